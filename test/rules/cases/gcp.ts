import { bad, type Case, fine } from '../support.ts'

const policy_data = (role: string, ...members: string[]) => ({
  policy_data: JSON.stringify({ bindings: [{ role, members }] }),
})

export const gcpCases: Case[] = [
  bad('gcp.iam.public-project', 'member', 'google_project_iam_member', {
    role: 'roles/viewer',
    member: 'allAuthenticatedUsers',
  }),
  bad(
    'gcp.iam.public-project',
    'policy',
    'google_organization_iam_policy',
    policy_data('roles/viewer', 'user:a@example.com', 'allUsers'),
  ),
  fine('gcp.iam.public-project', 'a person', 'google_project_iam_member', {
    role: 'roles/viewer',
    member: 'user:a@example.com',
  }),
  fine(
    'gcp.iam.public-project',
    'unknown',
    'google_project_iam_member',
    { role: 'roles/viewer' },
    { after_unknown: { member: true } },
  ),
  bad('gcp.iam.public-member', 'key', 'google_kms_crypto_key_iam_member', {
    role: 'roles/cloudkms.cryptoKeyDecrypter',
    member: 'allUsers',
  }),
  bad('gcp.iam.public-member', 'an administrator of a service', 'google_cloud_run_v2_service_iam_member', {
    role: 'roles/run.admin',
    member: 'allUsers',
  }),
  fine('gcp.iam.public-member', 'a service to call', 'google_cloud_run_v2_service_iam_member', {
    role: 'roles/run.invoker',
    member: 'allUsers',
  }),
  fine('gcp.iam.public-member', 'an account', 'google_pubsub_topic_iam_binding', {
    role: 'roles/pubsub.publisher',
    members: ['serviceAccount:a@b.iam.gserviceaccount.com'],
  }),
  bad('gcp.iam.public-service', 'everyone', 'google_cloud_run_service_iam_binding', {
    role: 'roles/run.invoker',
    members: ['allUsers'],
  }),
  fine('gcp.iam.public-service', 'an account', 'google_cloud_run_service_iam_member', {
    role: 'roles/run.invoker',
    member: 'user:a@example.com',
  }),
  bad('gcp.iam.project-owner', 'member', 'google_project_iam_member', {
    role: 'roles/owner',
    member: 'user:a@example.com',
  }),
  bad('gcp.iam.project-owner', 'folder', 'google_folder_iam_binding', {
    role: 'roles/owner',
    members: ['group:all@example.com'],
  }),
  fine('gcp.iam.project-owner', 'viewer', 'google_project_iam_member', {
    role: 'roles/viewer',
    member: 'user:a@example.com',
  }),
  bad('gcp.iam.project-editor', 'member', 'google_project_iam_member', {
    role: 'roles/editor',
    member: 'user:a@example.com',
  }),
  fine('gcp.iam.project-editor', 'viewer', 'google_project_iam_member', {
    role: 'roles/viewer',
    member: 'user:a@example.com',
  }),
  bad('gcp.iam.project-impersonation', 'project', 'google_project_iam_member', {
    role: 'roles/iam.serviceAccountTokenCreator',
    member: 'user:a@example.com',
  }),
  fine('gcp.iam.project-impersonation', 'one account', 'google_service_account_iam_member', {
    role: 'roles/iam.serviceAccountTokenCreator',
    member: 'user:a@example.com',
  }),
  bad('gcp.iam.service-account-key', 'a key', 'google_service_account_key', { service_account_id: 'a' }),
  fine('gcp.iam.service-account-key', 'deleted', 'google_service_account_key', null, {
    actions: ['delete'],
    before: {},
  }),
  bad('gcp.iam.default-account-full-scope', 'all scopes', 'google_compute_instance', {
    service_account: [
      { email: '1-compute@developer.gserviceaccount.com', scopes: ['https://www.googleapis.com/auth/cloud-platform'] },
    ],
  }),
  fine('gcp.iam.default-account-full-scope', 'its own account', 'google_compute_instance', {
    service_account: [{ email: 'web@p.iam.gserviceaccount.com', scopes: ['cloud-platform'] }],
  }),

  bad('gcp.storage.public-bucket', 'member', 'google_storage_bucket_iam_member', {
    role: 'roles/storage.objectViewer',
    member: 'allUsers',
  }),
  bad('gcp.storage.public-bucket', 'binding', 'google_storage_bucket_iam_binding', {
    role: 'roles/storage.objectViewer',
    members: ['allAuthenticatedUsers'],
  }),
  bad(
    'gcp.storage.public-bucket',
    'policy',
    'google_storage_bucket_iam_policy',
    policy_data('roles/storage.objectViewer', 'allUsers'),
  ),
  bad('gcp.storage.public-bucket', 'list', 'google_storage_bucket_acl', { role_entity: ['READER:allUsers'] }),
  bad('gcp.storage.public-bucket', 'ready-made list', 'google_storage_default_object_acl', {
    predefined_acl: 'publicRead',
  }),
  bad('gcp.storage.public-bucket', 'entity', 'google_storage_object_access_control', {
    entity: 'allUsers',
    role: 'READER',
  }),
  fine('gcp.storage.public-bucket', 'a group', 'google_storage_bucket_iam_member', {
    role: 'roles/storage.objectViewer',
    member: 'group:a@example.com',
  }),
  fine('gcp.storage.public-bucket', 'a list for the project', 'google_storage_bucket_acl', {
    role_entity: ['OWNER:project-owners-1'],
  }),
  bad('gcp.storage.force-destroy', 'bucket', 'google_storage_bucket', { force_destroy: true }),
  fine('gcp.storage.force-destroy', 'off', 'google_bigquery_dataset', { delete_contents_on_destroy: false }),
  bad('gcp.database.open-authorized-network', 'SQL', 'google_sql_database_instance', {
    settings: [{ ip_configuration: [{ authorized_networks: [{ name: 'all', value: '0.0.0.0/0' }] }] }],
  }),
  bad('gcp.database.open-authorized-network', 'AlloyDB', 'google_alloydb_instance', {
    network_config: [{ authorized_external_networks: [{ cidr_range: '0.0.0.0/0' }] }],
  }),
  fine('gcp.database.open-authorized-network', 'an office', 'google_sql_database_instance', {
    settings: [{ ip_configuration: [{ authorized_networks: [{ value: '198.51.100.0/24' }] }] }],
  }),
  bad('gcp.database.public-address', 'on', 'google_sql_database_instance', {
    settings: [{ ip_configuration: [{ ipv4_enabled: true }] }],
  }),
  fine('gcp.database.public-address', 'off', 'google_sql_database_instance', {
    settings: [{ ip_configuration: [{ ipv4_enabled: false }] }],
  }),
  bad('gcp.database.public-dataset', 'group', 'google_bigquery_dataset', {
    access: [{ role: 'READER', special_group: 'allAuthenticatedUsers' }],
  }),
  bad('gcp.database.public-dataset', 'access', 'google_bigquery_dataset_access', {
    role: 'READER',
    iam_member: 'allUsers',
  }),
  bad('gcp.database.public-dataset', 'member', 'google_bigquery_dataset_iam_member', {
    role: 'roles/bigquery.dataViewer',
    member: 'allUsers',
  }),
  fine('gcp.database.public-dataset', 'owners', 'google_bigquery_dataset', {
    access: [{ role: 'OWNER', special_group: 'projectOwners' }],
  }),
  bad('gcp.network.public-cluster-endpoint', 'everyone', 'google_container_cluster', {
    master_authorized_networks_config: [{ cidr_blocks: [{ cidr_block: '0.0.0.0/0' }] }],
  }),
  fine('gcp.network.public-cluster-endpoint', 'an office', 'google_container_cluster', {
    master_authorized_networks_config: [{ cidr_blocks: [{ cidr_block: '198.51.100.0/24' }] }],
  }),
  bad('gcp.network.public-machine', 'an address', 'google_compute_instance', {
    network_interface: [{ access_config: [{ nat_ip: null }] }],
  }),
  fine('gcp.network.public-machine', 'none', 'google_compute_instance', { network_interface: [{ access_config: [] }] }),
  bad('gcp.encryption.plain-cluster-secrets', 'off', 'google_container_cluster', {
    database_encryption: [{ state: 'DECRYPTED' }],
  }),
  fine('gcp.encryption.plain-cluster-secrets', 'on', 'google_container_cluster', {
    database_encryption: [{ state: 'ENCRYPTED' }],
  }),
  bad('gcp.stateful.backups-off', 'off', 'google_sql_database_instance', {
    settings: [{ backup_configuration: [{ enabled: false }] }],
  }),
  fine('gcp.stateful.backups-off', 'on', 'google_sql_database_instance', {
    settings: [{ backup_configuration: [{ enabled: true }] }],
  }),
]
