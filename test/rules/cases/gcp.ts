import { bad, type Case, deleted, fine } from '../support.ts'

const SOMEBODY = 'user:a@example.com'
/** A role on an object of this kind that one member gets. */
const member = (make: typeof bad, rule: string, name: string, kind: string, role: string, to: string) =>
  make(`gcp.${rule}`, name, `google_${kind}_iam_member`, { role: `roles/${role}`, member: to })
const binding = (make: typeof bad, rule: string, name: string, kind: string, role: string, to: string) =>
  make(`gcp.${rule}`, name, `google_${kind}_iam_binding`, { role: `roles/${role}`, members: [to] })
const sql = (make: typeof bad, rule: string, name: string, settings: unknown) =>
  make(`gcp.${rule}`, name, 'google_sql_database_instance', { settings: [settings] })
const policy_data = (role: string, ...members: string[]) => ({
  policy_data: JSON.stringify({ bindings: [{ role, members }] }),
})

export const gcpCases: Case[] = [
  member(bad, 'iam.public-project', 'member', 'project', 'viewer', 'allAuthenticatedUsers'),
  bad(
    'gcp.iam.public-project',
    'policy',
    'google_organization_iam_policy',
    policy_data('roles/viewer', 'user:a@example.com', 'allUsers'),
  ),
  member(fine, 'iam.public-project', 'a person', 'project', 'viewer', SOMEBODY),
  fine(
    'gcp.iam.public-project',
    'unknown',
    'google_project_iam_member',
    { role: 'roles/viewer' },
    { after_unknown: { member: true } },
  ),
  member(bad, 'iam.public-member', 'key', 'kms_crypto_key', 'cloudkms.cryptoKeyDecrypter', 'allUsers'),
  member(bad, 'iam.public-member', 'an administrator of a service', 'cloud_run_v2_service', 'run.admin', 'allUsers'),
  member(fine, 'iam.public-member', 'a service to call', 'cloud_run_v2_service', 'run.invoker', 'allUsers'),
  binding(
    fine,
    'iam.public-member',
    'an account',
    'pubsub_topic',
    'pubsub.publisher',
    'serviceAccount:a@b.iam.gserviceaccount.com',
  ),
  binding(bad, 'iam.public-service', 'everyone', 'cloud_run_service', 'run.invoker', 'allUsers'),
  member(fine, 'iam.public-service', 'an account', 'cloud_run_service', 'run.invoker', SOMEBODY),
  member(bad, 'iam.project-owner', 'member', 'project', 'owner', SOMEBODY),
  binding(bad, 'iam.project-owner', 'folder', 'folder', 'owner', 'group:all@example.com'),
  member(fine, 'iam.project-owner', 'viewer', 'project', 'viewer', SOMEBODY),
  member(bad, 'iam.project-editor', 'member', 'project', 'editor', SOMEBODY),
  member(fine, 'iam.project-editor', 'viewer', 'project', 'viewer', SOMEBODY),
  member(bad, 'iam.project-impersonation', 'project', 'project', 'iam.serviceAccountTokenCreator', SOMEBODY),
  member(
    fine,
    'iam.project-impersonation',
    'one account',
    'service_account',
    'iam.serviceAccountTokenCreator',
    SOMEBODY,
  ),
  bad('gcp.iam.service-account-key', 'a key', 'google_service_account_key', { service_account_id: 'a' }),
  fine('gcp.iam.service-account-key', 'deleted', 'google_service_account_key', null, deleted()),
  bad('gcp.iam.default-account-full-scope', 'all scopes', 'google_compute_instance', {
    service_account: [
      { email: '1-compute@developer.gserviceaccount.com', scopes: ['https://www.googleapis.com/auth/cloud-platform'] },
    ],
  }),
  fine('gcp.iam.default-account-full-scope', 'its own account', 'google_compute_instance', {
    service_account: [{ email: 'web@p.iam.gserviceaccount.com', scopes: ['cloud-platform'] }],
  }),

  member(bad, 'storage.public-bucket', 'member', 'storage_bucket', 'storage.objectViewer', 'allUsers'),
  binding(bad, 'storage.public-bucket', 'binding', 'storage_bucket', 'storage.objectViewer', 'allAuthenticatedUsers'),
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
  member(fine, 'storage.public-bucket', 'a group', 'storage_bucket', 'storage.objectViewer', 'group:a@example.com'),
  fine('gcp.storage.public-bucket', 'a list for the project', 'google_storage_bucket_acl', {
    role_entity: ['OWNER:project-owners-1'],
  }),
  bad('gcp.storage.force-destroy', 'bucket', 'google_storage_bucket', { force_destroy: true }),
  fine('gcp.storage.force-destroy', 'off', 'google_bigquery_dataset', { delete_contents_on_destroy: false }),
  sql(bad, 'database.open-authorized-network', 'SQL', {
    ip_configuration: [{ authorized_networks: [{ name: 'all', value: '0.0.0.0/0' }] }],
  }),
  bad('gcp.database.open-authorized-network', 'AlloyDB', 'google_alloydb_instance', {
    network_config: [{ authorized_external_networks: [{ cidr_range: '0.0.0.0/0' }] }],
  }),
  sql(fine, 'database.open-authorized-network', 'an office', {
    ip_configuration: [{ authorized_networks: [{ value: '198.51.100.0/24' }] }],
  }),
  sql(bad, 'database.public-address', 'on', { ip_configuration: [{ ipv4_enabled: true }] }),
  sql(fine, 'database.public-address', 'off', { ip_configuration: [{ ipv4_enabled: false }] }),
  bad('gcp.database.public-dataset', 'group', 'google_bigquery_dataset', {
    access: [{ role: 'READER', special_group: 'allAuthenticatedUsers' }],
  }),
  bad('gcp.database.public-dataset', 'access', 'google_bigquery_dataset_access', {
    role: 'READER',
    iam_member: 'allUsers',
  }),
  member(bad, 'database.public-dataset', 'member', 'bigquery_dataset', 'bigquery.dataViewer', 'allUsers'),
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
  sql(bad, 'stateful.backups-off', 'off', { backup_configuration: [{ enabled: false }] }),
  sql(fine, 'stateful.backups-off', 'on', { backup_configuration: [{ enabled: true }] }),
  bad('gcp.evidence.removed', 'deleted', 'google_logging_project_sink', null, deleted()),
  fine('gcp.evidence.removed', 'made', 'google_logging_project_sink', {}),
  bad(
    'gcp.evidence.shortened',
    'to a month',
    'google_logging_project_bucket_config',
    { retention_days: 30 },
    { actions: ['update'], before: { retention_days: 365 } },
  ),
  fine('gcp.evidence.shortened', 'made so', 'google_logging_project_bucket_config', { retention_days: 30 }),
]
