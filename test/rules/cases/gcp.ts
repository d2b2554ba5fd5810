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

  sql(bad, 'transit.plain', 'both', { ip_configuration: [{ ssl_mode: 'ALLOW_UNENCRYPTED_AND_ENCRYPTED' }] }),
  sql(fine, 'transit.plain', 'encrypted', { ip_configuration: [{ ssl_mode: 'ENCRYPTED_ONLY' }] }),
  sql(bad, 'transit.plain-by-default', 'nothing said', { ip_configuration: [{ ipv4_enabled: false }] }),
  sql(fine, 'transit.plain-by-default', 'the older argument', { ip_configuration: [{ require_ssl: true }] }),
  bad('gcp.transit.old-tls', 'default', 'google_compute_ssl_policy', { profile: 'MODERN' }),
  fine('gcp.transit.old-tls', 'current', 'google_compute_ssl_policy', {
    profile: 'MODERN',
    min_tls_version: 'TLS_1_2',
  }),
  bad('gcp.encryption.no-key-rotation', 'never', 'google_kms_crypto_key', { purpose: 'ENCRYPT_DECRYPT' }),
  fine('gcp.encryption.no-key-rotation', 'signs', 'google_kms_crypto_key', { purpose: 'ASYMMETRIC_SIGN' }),
  bad('gcp.network.public-cluster-endpoint', 'nothing said', 'google_container_cluster', { name: 'a' }),
  fine('gcp.network.public-cluster-endpoint', 'no network', 'google_container_cluster', {
    master_authorized_networks_config: [{}],
  }),
  fine('gcp.network.public-cluster-endpoint', 'private', 'google_container_cluster', {
    private_cluster_config: [{ enable_private_endpoint: true }],
  }),
  bad('gcp.network.public-endpoint', 'function', 'google_cloudfunctions_function', { trigger_http: true }),
  fine('gcp.network.public-endpoint', 'of events', 'google_cloudfunctions_function', { trigger_http: false }),
  bad('gcp.network.ip-forwarding', 'on', 'google_compute_instance', { can_ip_forward: true }),
  fine('gcp.network.ip-forwarding', 'off', 'google_compute_instance', { can_ip_forward: false }),
  bad('gcp.access.no-roles', 'legacy', 'google_container_cluster', { enable_legacy_abac: true }),
  fine('gcp.access.no-roles', 'roles', 'google_container_cluster', { enable_legacy_abac: false }),
  bad('gcp.access.shared-admin', 'certificate', 'google_container_cluster', {
    master_auth: [{ client_certificate_config: [{ issue_client_certificate: true }] }],
  }),
  fine('gcp.access.shared-admin', 'none', 'google_container_cluster', {
    master_auth: [{ client_certificate_config: [{ issue_client_certificate: false }] }],
  }),
  bad('gcp.access.no-sign-in', 'cache', 'google_redis_instance', {}),
  fine('gcp.access.no-sign-in', 'cache', 'google_redis_instance', { auth_enabled: true }),
  bad('gcp.access.project-wide-sign-in', 'serial console', 'google_compute_instance', {
    metadata: { 'serial-port-enable': 'TRUE' },
  }),
  fine('gcp.access.project-wide-sign-in', 'off', 'google_compute_instance', {
    metadata: { 'serial-port-enable': 'false', 'enable-oslogin': 'TRUE' },
  }),
  bad('gcp.compute.metadata-exposed', 'of the node', 'google_container_node_pool', {
    node_config: [{ workload_metadata_config: [{ mode: 'GCE_METADATA' }] }],
  }),
  fine('gcp.compute.metadata-exposed', 'of the workload', 'google_container_node_pool', {
    node_config: [{ workload_metadata_config: [{ mode: 'GKE_METADATA' }] }],
  }),
  bad('gcp.compute.unshielded', 'off', 'google_container_cluster', { enable_shielded_nodes: false }),
  fine('gcp.compute.unshielded', 'nothing said', 'google_container_cluster', {}),
  bad('gcp.storage.access-lists', 'by default', 'google_storage_bucket', {}),
  fine('gcp.storage.access-lists', 'closed', 'google_storage_bucket', {
    uniform_bucket_level_access: true,
    public_access_prevention: 'enforced',
  }),
  bad('gcp.network.default-network', 'by default', 'google_project', {}),
  fine('gcp.network.default-network', 'none', 'google_project', { auto_create_network: false }),
  bad('gcp.network.no-dnssec', 'public', 'google_dns_managed_zone', { visibility: 'public' }),
  fine('gcp.network.no-dnssec', 'private', 'google_dns_managed_zone', { visibility: 'private' }),
  bad('gcp.evidence.stopped', 'sink', 'google_logging_project_sink', { disabled: true }),
  fine('gcp.evidence.stopped', 'sink', 'google_logging_project_sink', { disabled: false }),
  bad('gcp.evidence.incomplete', 'exempted', 'google_project_iam_audit_config', {
    audit_log_config: [{ exempted_members: ['user:a@example.com'] }],
  }),
  fine('gcp.evidence.incomplete', 'all', 'google_project_iam_audit_config', {
    audit_log_config: [{ log_type: 'DATA_READ' }],
  }),
  bad('gcp.logging.missing', 'network', 'google_compute_subnetwork', {}),
  fine('gcp.logging.missing', 'network', 'google_compute_subnetwork', { log_config: [{}] }),
  bad('gcp.stateful.unprotected', 'off', 'google_bigquery_table', { deletion_protection: false }),
  fine('gcp.stateful.unprotected', 'default', 'google_bigquery_table', {}),
  sql(bad, 'stateful.no-backups', 'nothing said', {}),
  sql(fine, 'stateful.no-backups', 'on', { backup_configuration: [{ enabled: true }] }),
  bad('gcp.network.no-pod-policy', 'none', 'google_container_cluster', {}),
  fine('gcp.network.no-pod-policy', 'of the data path', 'google_container_cluster', {
    datapath_provider: 'ADVANCED_DATAPATH',
  }),
  bad('gcp.iam.project-viewer', 'viewer', 'google_folder_iam_member', {
    role: 'roles/viewer',
    member: 'group:everybody@example.com',
  }),
  fine('gcp.iam.project-viewer', 'of logs', 'google_project_iam_member', {
    role: 'roles/logging.viewer',
    member: 'group:everybody@example.com',
  }),
  bad('gcp.iam.service-admin', 'storage', 'google_project_iam_member', {
    role: 'roles/storage.admin',
    member: 'serviceAccount:app@example.iam.gserviceaccount.com',
  }),
  bad('gcp.iam.service-admin', 'objects', 'google_project_iam_binding', {
    role: 'roles/storage.objectAdmin',
    members: ['serviceAccount:app@example.iam.gserviceaccount.com'],
  }),
  fine('gcp.iam.service-admin', 'a person', 'google_project_iam_member', {
    role: 'roles/storage.admin',
    member: 'group:storage@example.com',
  }),
  fine('gcp.iam.service-admin', 'reading', 'google_project_iam_member', {
    role: 'roles/storage.objectViewer',
    member: 'serviceAccount:app@example.iam.gserviceaccount.com',
  }),
  bad('gcp.iam.project-impersonation', 'role of an agent', 'google_project_iam_member', {
    role: 'roles/composer.serviceAgent',
    member: 'serviceAccount:app@example.iam.gserviceaccount.com',
  }),
  fine('gcp.iam.project-impersonation', 'the agent itself', 'google_project_iam_member', {
    role: 'roles/composer.serviceAgent',
    member: 'serviceAccount:service-123@cloudcomposer-accounts.iam.gserviceaccount.com',
  }),
  fine('gcp.iam.project-impersonation', 'member that is known later', 'google_project_iam_member', {
    role: 'roles/composer.serviceAgent',
  }),
  bad('gcp.iam.project-impersonation', 'builds', 'google_project_iam_member', {
    role: 'roles/cloudbuild.builds.editor',
    member: 'user:someone@example.com',
  }),
  bad('gcp.iam.default-account-full-scope', 'account left out', 'google_compute_instance', {
    service_account: [{ scopes: ['cloud-platform'] }],
  }),
]
