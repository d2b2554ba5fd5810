import type { Rule } from '../rule.ts'
import { type FaultClass, tableRules } from '../table.ts'
import {
  BACKUPS_OFF,
  EVIDENCE_INCOMPLETE,
  EVIDENCE_STOPPED,
  FORWARDING,
  KEY_ROTATION,
  LOGGING,
  NO_NETWORK_POLICY,
  NO_PROTECTION,
  NO_ROLES,
  NO_SIGN_IN,
  OLD_TLS,
  OPEN_CLUSTER,
  PUBLIC_ENDPOINT,
  PUBLIC_MACHINE,
  SHARED_ADMIN,
  TRANSIT,
} from './classes.ts'

const DOCS = 'https://cloud.google.com'
const MACHINES =
  'google_compute_instance,google_compute_instance_template,google_compute_region_instance_template,google_compute_instance_from_template'
const NODES = 'google_container_cluster,google_container_node_pool'
const POSTGRES = 'database_version=POSTGRES*'

const transit = `
${DOCS}/sql/docs/postgres/configure-ssl-instance
google_sql_database_instance settings.ip_configuration.ssl_mode ALLOW_UNENCRYPTED_AND_ENCRYPTED|unset if settings.ip_configuration.require_ssl!=true !master_instance_name
${DOCS}/alloydb/docs/manage-ssl-settings
google_alloydb_instance client_connection_config.ssl_config.ssl_mode ALLOW_UNENCRYPTED_AND_ENCRYPTED
${DOCS}/memorystore/docs/redis/about-in-transit-encryption
google_redis_instance transit_encryption_mode DISABLED|unset
google_redis_cluster transit_encryption_mode TRANSIT_ENCRYPTION_MODE_DISABLED|unset
google_memorystore_instance transit_encryption_mode TRANSIT_ENCRYPTION_DISABLED|unset
${DOCS}/functions/docs/concepts/http#security_levels
google_cloudfunctions_function https_trigger_security_level SECURE_OPTIONAL
${DOCS}/appengine/docs/standard/reference/app-yaml#handlers_element
google_app_engine_standard_app_version,google_app_engine_flexible_app_version handlers.security_level SECURE_NEVER
`

const oldTls = `
${DOCS}/load-balancing/docs/ssl-policies-concepts
google_compute_ssl_policy,google_compute_region_ssl_policy min_tls_version TLS_1_0,TLS_1_1|unset
google_compute_ssl_policy,google_compute_region_ssl_policy profile COMPATIBLE|unset
`

/** With an empty block only networks of the cluster are admitted. */
const openCluster = `
${DOCS}/kubernetes-engine/docs/how-to/authorized-networks
google_container_cluster master_authorized_networks_config.cidr_blocks.cidr_block open if private_cluster_config.enable_private_endpoint!=true
google_container_cluster master_authorized_networks_config.gcp_public_cidrs_access_enabled unset-outside if private_cluster_config.enable_private_endpoint!=true control_plane_endpoints_config.ip_endpoints_config.enabled!=false
`

const publicMachine = `
${DOCS}/compute/docs/ip-addresses#externaladdresses
${MACHINES} network_interface.access_config set
${DOCS}/kubernetes-engine/docs/concepts/private-cluster-concept
google_container_cluster private_cluster_config.enable_private_nodes false|unset
${DOCS}/dataproc/docs/concepts/configuring-clusters/network
google_dataproc_cluster cluster_config.gce_cluster_config.internal_ip_only false|unset-inside
${DOCS}/dataflow/docs/guides/routes-firewall
google_dataflow_job ip_configuration WORKER_IP_PUBLIC|unset
${DOCS}/build/docs/private-pools/private-pools-overview
google_cloudbuild_worker_pool worker_config.no_external_ip false|unset
${DOCS}/vertex-ai/docs/workbench/instances/manage-access
google_notebooks_instance no_public_ip false|unset
google_workbench_instance gce_setup.disable_public_ip false|unset
`

const publicEndpoint = `
${DOCS}/functions/docs/networking/network-settings
google_cloudfunctions_function ingress_settings ALLOW_ALL|unset if trigger_http=true
google_cloudfunctions2_function service_config.ingress_settings ALLOW_ALL|unset if !event_trigger
${DOCS}/data-fusion/docs/how-to/create-private-ip
google_data_fusion_instance private_instance false|unset
`

const forwarding = `
${DOCS}/vpc/docs/using-routes#canipforward
${MACHINES} can_ip_forward true
`

const noRoles = `
${DOCS}/kubernetes-engine/docs/how-to/hardening-your-cluster#leave_abac_disabled
google_container_cluster enable_legacy_abac true
`

const sharedAdmin = `
${DOCS}/kubernetes-engine/docs/how-to/hardening-your-cluster#restrict_authn_methods
google_container_cluster master_auth.client_certificate_config.issue_client_certificate true
google_container_cluster master_auth.password set
`

const noSignIn = `
${DOCS}/memorystore/docs/redis/about-redis-auth
google_redis_instance auth_enabled false|unset
google_redis_cluster,google_memorystore_instance authorization_mode AUTH_MODE_DISABLED,AUTH_DISABLED|unset
`

const CONSOLE: FaultClass = {
  name: 'access.project-wide-sign-in',
  title: 'Sign-in to machines past their own roles',
  reason: 'A serial console is open to every address, and keys of the project open each of its machines.',
  fix: 'Use OS Login, block keys of the project, and leave the serial console off.',
  severity: 'warning',
  says: 'opens a way in past the roles of the machine',
}
const console = `
${DOCS}/compute/docs/troubleshooting/troubleshooting-using-serial-console
${MACHINES} metadata.serial-port-enable true,1
${DOCS}/compute/docs/oslogin/set-up-oslogin
${MACHINES} metadata.enable-oslogin false
google_compute_project_metadata metadata.enable-oslogin false
`

const METADATA: FaultClass = {
  name: 'compute.metadata-exposed',
  title: 'Metadata of nodes open to pods',
  reason: 'Every pod can take the identity of its node, and with it what the node may do.',
  fix: 'Set mode to GKE_METADATA.',
  severity: 'warning',
  says: 'gives pods the identity of their node',
}
const metadata = `
${DOCS}/kubernetes-engine/docs/how-to/workload-identity
${NODES} node_config.workload_metadata_config.mode GCE_METADATA,MODE_UNSPECIFIED
${NODES} node_config.workload_metadata_config.node_metadata EXPOSE,UNSPECIFIED
`

const UNSHIELDED: FaultClass = {
  name: 'compute.unshielded',
  title: 'Machine without a verified boot',
  reason: 'A changed kernel or boot loader goes unseen.',
  fix: 'Leave vTPM and integrity monitoring on, and switch secure boot on where the image supports it.',
  severity: 'info',
  told: 'once',
  says: 'leaves the boot unverified',
}
const unshielded = `
${DOCS}/compute/shielded-vm/docs/shielded-vm
${MACHINES},google_notebooks_instance shielded_instance_config.enable_vtpm false
${MACHINES},google_notebooks_instance shielded_instance_config.enable_integrity_monitoring false
${NODES} node_config.shielded_instance_config.enable_secure_boot false|unset-inside
${NODES} node_config.shielded_instance_config.enable_integrity_monitoring false
google_container_cluster enable_shielded_nodes false
`

const OPEN_LISTS: FaultClass = {
  name: 'storage.access-lists',
  title: 'Bucket with access lists, or without a block of public access',
  reason: 'An access list of one object can open it to everyone, past the roles of the bucket.',
  fix: 'Set uniform_bucket_level_access to true and public_access_prevention to enforced.',
  severity: 'info',
  told: 'once',
  says: 'leaves objects to be opened one by one',
}
const openLists = `
${DOCS}/storage/docs/uniform-bucket-level-access
google_storage_bucket uniform_bucket_level_access false|unset
${DOCS}/storage/docs/public-access-prevention
google_storage_bucket public_access_prevention inherited,unspecified|unset
`

const DEFAULT_NETWORK: FaultClass = {
  name: 'network.default-network',
  title: 'Default network of a project',
  reason: 'The default network admits SSH, RDP and ping from the whole internet.',
  fix: 'Set auto_create_network to false and make networks in the code.',
  severity: 'warning',
  says: 'makes the default network',
}
const defaultNetwork = `
${DOCS}/vpc/docs/vpc#default-network
google_project auto_create_network true|unset
`

const NO_DNSSEC: FaultClass = {
  name: 'network.no-dnssec',
  title: 'Zone without signatures',
  reason: 'Answers for the zone can be forged on the way.',
  fix: 'Set dnssec_config.state to on, with keys of a current algorithm.',
  severity: 'info',
  told: 'once',
  says: 'leaves answers of the zone without a signature that holds',
}
const dnssec = `
${DOCS}/dns/docs/dnssec
google_dns_managed_zone dnssec_config.state off|unset if visibility!=private
google_dns_managed_zone dnssec_config.default_key_specs.algorithm rsasha1
`

const stopped = `
${DOCS}/logging/docs/export/configure_export_v2
google_logging_project_sink,google_logging_folder_sink,google_logging_organization_sink,google_logging_billing_account_sink disabled true
${DOCS}/kubernetes-engine/docs/how-to/config-logging-monitoring
google_container_cluster logging_service none
google_container_cluster monitoring_service none
`

const incomplete = `
${DOCS}/logging/docs/audit/configure-data-access
google_project_iam_audit_config,google_folder_iam_audit_config,google_organization_iam_audit_config audit_log_config.exempted_members set
${DOCS}/logging/docs/buckets#custom-retention
google_logging_project_bucket_config,google_logging_folder_bucket_config,google_logging_organization_bucket_config retention_days <30
`

const logging = `
${DOCS}/vpc/docs/using-flow-logs
google_compute_subnetwork log_config.metadata unset-outside if purpose!=REGIONAL_MANAGED_PROXY,GLOBAL_MANAGED_PROXY,PRIVATE_SERVICE_CONNECT,INTERNAL_HTTPS_LOAD_BALANCER,PRIVATE_NAT
${DOCS}/storage/docs/access-logs
google_storage_bucket logging.log_bucket unset
${DOCS}/load-balancing/docs/https/https-logging-monitoring
google_compute_backend_service,google_compute_region_backend_service log_config.enable false|unset
${DOCS}/sql/docs/postgres/flags
google_sql_database_instance settings.database_flags[name=log_connections].value off|unset if ${POSTGRES}
google_sql_database_instance settings.database_flags[name=log_disconnections].value off|unset if ${POSTGRES}
google_sql_database_instance settings.database_flags[name=log_checkpoints].value off if ${POSTGRES}
google_sql_database_instance settings.database_flags[name=log_lock_waits].value off|unset if ${POSTGRES}
google_sql_database_instance settings.database_flags[name=cloudsql.enable_pgaudit].value off|unset if ${POSTGRES}
${DOCS}/data-fusion/docs/how-to/view-logs
google_data_fusion_instance enable_stackdriver_logging false|unset
`

const unprotected = `
${DOCS}/sql/docs/postgres/deletion-protection
google_sql_database_instance,google_bigtable_instance,google_bigquery_table,google_spanner_database,google_container_cluster,google_alloydb_cluster deletion_protection false
${DOCS}/spanner/docs/prevent-database-deletion
google_spanner_database enable_drop_protection false|unset
`

const backups = `
${DOCS}/sql/docs/postgres/backup-recovery/backups
google_sql_database_instance settings.backup_configuration.enabled false|unset if !master_instance_name
${DOCS}/alloydb/docs/backup/overview
google_alloydb_cluster automated_backup_policy.enabled false
${DOCS}/storage/docs/object-versioning
google_storage_bucket versioning.enabled false
`

const rotation = `
${DOCS}/kms/docs/key-rotation
google_kms_crypto_key rotation_period unset if purpose!=ASYMMETRIC_SIGN,ASYMMETRIC_DECRYPT,MAC,RAW_ENCRYPT_DECRYPT,KEY_ENCAPSULATION import_only!=true
`

const networkPolicy = `
${DOCS}/kubernetes-engine/docs/how-to/network-policy
google_container_cluster network_policy.enabled false|unset if datapath_provider!=ADVANCED_DATAPATH enable_autopilot!=true
`

export const gcpTables: Rule[] = [
  ...tableRules('gcp', TRANSIT, transit),
  ...tableRules('gcp', OLD_TLS, oldTls),
  ...tableRules('gcp', KEY_ROTATION, rotation),
  ...tableRules('gcp', OPEN_CLUSTER, openCluster),
  ...tableRules('gcp', PUBLIC_MACHINE, publicMachine),
  ...tableRules('gcp', { ...PUBLIC_ENDPOINT, severity: 'info', told: 'once' }, publicEndpoint),
  ...tableRules('gcp', FORWARDING, forwarding),
  ...tableRules('gcp', NO_ROLES, noRoles),
  ...tableRules('gcp', { ...SHARED_ADMIN, byDefault: undefined }, sharedAdmin),
  ...tableRules('gcp', NO_SIGN_IN, noSignIn),
  ...tableRules('gcp', CONSOLE, console),
  ...tableRules('gcp', METADATA, metadata),
  ...tableRules('gcp', UNSHIELDED, unshielded),
  ...tableRules('gcp', OPEN_LISTS, openLists),
  ...tableRules('gcp', DEFAULT_NETWORK, defaultNetwork),
  ...tableRules('gcp', NO_DNSSEC, dnssec),
  ...tableRules('gcp', EVIDENCE_STOPPED, stopped),
  ...tableRules('gcp', EVIDENCE_INCOMPLETE, incomplete),
  ...tableRules('gcp', LOGGING, logging),
  ...tableRules('gcp', NO_PROTECTION, unprotected),
  ...tableRules('gcp', BACKUPS_OFF, backups),
  ...tableRules('gcp', NO_NETWORK_POLICY, networkPolicy),
]
