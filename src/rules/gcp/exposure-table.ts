import { CLASSES } from '../classes.ts'
import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'

const DOCS = 'https://cloud.google.com'
const MACHINES =
  'google_compute_instance,google_compute_instance_template,google_compute_region_instance_template,google_compute_instance_from_template'
const NODES = 'google_container_cluster,google_container_node_pool'

export const gcpExposureTable: Rule[] = tableRules(
  'gcp',
  `
[OPEN_DATABASE]
${DOCS}/sql/docs/postgres/authorize-networks
google_sql_database_instance settings.ip_configuration.authorized_networks.value open
${DOCS}/alloydb/docs/connect-public-ip
google_alloydb_instance network_config.authorized_external_networks.cidr_range open

[PUBLIC_DATABASE]
${DOCS}/sql/docs/postgres/configure-ip
google_sql_database_instance settings.ip_configuration.ipv4_enabled true

[ACCOUNT_KEY]
${DOCS}/iam/docs/best-practices-for-managing-service-account-keys
google_service_account_key service_account_id set

[OPEN_CLUSTER]
# With an empty block only networks of the cluster are admitted.
${DOCS}/kubernetes-engine/docs/how-to/authorized-networks
google_container_cluster master_authorized_networks_config.cidr_blocks.cidr_block open if private_cluster_config.enable_private_endpoint!=true
google_container_cluster master_authorized_networks_config.gcp_public_cidrs_access_enabled unset-outside if private_cluster_config.enable_private_endpoint!=true control_plane_endpoints_config.ip_endpoints_config.enabled!=false

[PUBLIC_MACHINE]
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

[PUBLIC_ENDPOINT]
${DOCS}/functions/docs/networking/network-settings
google_cloudfunctions_function ingress_settings ALLOW_ALL|unset if trigger_http=true
google_cloudfunctions2_function service_config.ingress_settings ALLOW_ALL|unset if !event_trigger
${DOCS}/data-fusion/docs/how-to/create-private-ip
google_data_fusion_instance private_instance false|unset

[FORWARDING]
${DOCS}/vpc/docs/using-routes#canipforward
${MACHINES} can_ip_forward true

[OPEN_LISTS]
${DOCS}/storage/docs/uniform-bucket-level-access
google_storage_bucket uniform_bucket_level_access false|unset
${DOCS}/storage/docs/public-access-prevention
google_storage_bucket public_access_prevention inherited,unspecified|unset

[DEFAULT_NETWORK]
${DOCS}/vpc/docs/vpc#default-network
google_project auto_create_network true|unset

[NO_NETWORK_POLICY]
${DOCS}/kubernetes-engine/docs/how-to/network-policy
google_container_cluster network_policy.enabled false|unset if datapath_provider!=ADVANCED_DATAPATH enable_autopilot!=true

[NO_ROLES]
${DOCS}/kubernetes-engine/docs/how-to/hardening-your-cluster#leave_abac_disabled
google_container_cluster enable_legacy_abac true

[SHARED_ADMIN]
${DOCS}/kubernetes-engine/docs/how-to/hardening-your-cluster#restrict_authn_methods
google_container_cluster master_auth.client_certificate_config.issue_client_certificate true
google_container_cluster master_auth.password set

[NO_SIGN_IN]
${DOCS}/memorystore/docs/redis/about-redis-auth
google_redis_instance auth_enabled false|unset
google_redis_cluster,google_memorystore_instance authorization_mode AUTH_MODE_DISABLED,AUTH_DISABLED|unset

[CONSOLE]
${DOCS}/compute/docs/troubleshooting/troubleshooting-using-serial-console
${MACHINES} metadata.serial-port-enable true,1
${DOCS}/compute/docs/oslogin/set-up-oslogin
${MACHINES} metadata.enable-oslogin false
google_compute_project_metadata metadata.enable-oslogin false

[METADATA]
${DOCS}/kubernetes-engine/docs/how-to/workload-identity
${NODES} node_config.workload_metadata_config.mode GCE_METADATA,MODE_UNSPECIFIED
${NODES} node_config.workload_metadata_config.node_metadata EXPOSE,UNSPECIFIED

[UNSHIELDED]
${DOCS}/compute/shielded-vm/docs/shielded-vm
${MACHINES},google_notebooks_instance shielded_instance_config.enable_vtpm false
${MACHINES},google_notebooks_instance shielded_instance_config.enable_integrity_monitoring false
${NODES} node_config.shielded_instance_config.enable_secure_boot false|unset-inside
${NODES} node_config.shielded_instance_config.enable_integrity_monitoring false
google_container_cluster enable_shielded_nodes false
`,
  {
    OPEN_DATABASE: {
      name: 'database.open-authorized-network',
      title: 'Database open to the internet',
      reason: 'Anyone can try logins against the database.',
      fix: 'Name the networks, or use the private address or the connector.',
      severity: 'error',
      says: 'admits every address',
    },
    PUBLIC_DATABASE: {
      name: 'database.public-address',
      title: 'Database with a public address',
      reason: 'The database is reachable from outside; its authorized networks decide who may connect.',
      fix: 'Set ipv4_enabled to false and use a private network.',
      severity: 'info',
      says: 'gives the database a public address',
    },
    ACCOUNT_KEY: {
      name: 'iam.service-account-key',
      title: 'Long-lived key of a service account',
      reason: 'The key lasts for years, and its private part stands in the state of the engine.',
      fix: 'Use workload identity or impersonation.',
      severity: 'warning',
      says: 'gets a key that does not expire',
    },

    PUBLIC_ENDPOINT: { ...CLASSES.PUBLIC_ENDPOINT, severity: 'info', told: 'once' },

    OPEN_LISTS: {
      name: 'storage.access-lists',
      title: 'Bucket with access lists, or without a block of public access',
      reason: 'An access list of one object can open it to everyone, past the roles of the bucket.',
      fix: 'Set uniform_bucket_level_access to true and public_access_prevention to enforced.',
      severity: 'info',
      told: 'once',
      says: 'leaves objects to be opened one by one',
    },
    DEFAULT_NETWORK: {
      name: 'network.default-network',
      title: 'Default network of a project',
      reason: 'The default network admits SSH, RDP and ping from the whole internet.',
      fix: 'Set auto_create_network to false and make networks in the code.',
      severity: 'warning',
      says: 'makes the default network',
    },

    SHARED_ADMIN: { ...CLASSES.SHARED_ADMIN, byDefault: undefined },

    CONSOLE: {
      name: 'access.project-wide-sign-in',
      title: 'Sign-in to machines past their own roles',
      reason: 'A serial console is open to every address, and keys of the project open each of its machines.',
      fix: 'Use OS Login, block keys of the project, and leave the serial console off.',
      severity: 'warning',
      says: 'opens a way in past the roles of the machine',
    },
    METADATA: {
      name: 'compute.metadata-exposed',
      title: 'Metadata of nodes open to pods',
      reason: 'Every pod can take the identity of its node, and with it what the node may do.',
      fix: 'Set mode to GKE_METADATA.',
      severity: 'warning',
      says: 'gives pods the identity of their node',
    },
    UNSHIELDED: {
      name: 'compute.unshielded',
      title: 'Machine without a verified boot',
      reason: 'A changed kernel or boot loader goes unseen.',
      fix: 'Leave vTPM and integrity monitoring on, and switch secure boot on where the image supports it.',
      severity: 'info',
      told: 'once',
      says: 'leaves the boot unverified',
    },
  },
)
