import type { Rule } from '../rule.ts'
import { type FaultClass, tableRules } from '../table.ts'
import {
  ENCRYPTION,
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
  PASSWORDS,
  PUBLIC_ENDPOINT,
  PUBLIC_MACHINE,
  SHARED_ADMIN,
  SHARED_KEYS,
  TRANSIT,
  WEB_FIREWALL_OFF,
} from './classes.ts'

const DOCS = 'https://learn.microsoft.com/azure'
/** The provider's own defaults, which are not always those of the service. */
const PROVIDER = 'https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources'

const WEB_APPS = 'azurerm_linux_web_app,azurerm_windows_web_app,azurerm_linux_web_app_slot,azurerm_windows_web_app_slot'
const FUNCTION_APPS =
  'azurerm_linux_function_app,azurerm_windows_function_app,azurerm_linux_function_app_slot,azurerm_windows_function_app_slot'
const OLD_APPS = 'azurerm_app_service,azurerm_app_service_slot,azurerm_function_app,azurerm_function_app_slot'
const APPS = `${WEB_APPS},${FUNCTION_APPS},${OLD_APPS}`
const SINGLE_SERVERS = 'azurerm_mysql_server,azurerm_postgresql_server,azurerm_mariadb_server'
const SCALE_SETS =
  'azurerm_linux_virtual_machine_scale_set,azurerm_windows_virtual_machine_scale_set,azurerm_orchestrated_virtual_machine_scale_set'

/** Azure always encrypts storage at rest; the switch of a managed disk controls additional Azure Disk Encryption. */
const encryption = `
${DOCS}/azure-sql/database/transparent-data-encryption-tde-overview
azurerm_mssql_database transparent_data_encryption_enabled false
${DOCS}/synapse-analytics/sql-data-warehouse/sql-data-warehouse-encryption-tde
azurerm_synapse_sql_pool data_encrypted false|unset
${DOCS}/virtual-machines/disk-encryption-overview
azurerm_managed_disk encryption_settings.enabled false
${DOCS}/data-explorer/cluster-encryption-disk
azurerm_kusto_cluster disk_encryption_enabled false|unset
azurerm_kusto_cluster enable_disk_encryption false
${DOCS}/data-lake-store/data-lake-store-encryption
azurerm_data_lake_store encryption_state DISABLED
${DOCS}/automation/shared-resources/variables
azurerm_automation_variable_string,azurerm_automation_variable_bool,azurerm_automation_variable_int,azurerm_automation_variable_datetime,azurerm_automation_variable_object encrypted false|unset
`

const HOST_DISKS: FaultClass = {
  name: 'encryption.host-disks',
  title: 'Caches and temporary disks of a machine without encryption',
  reason: 'Disks are encrypted where they are stored; what the host keeps of them, and its temporary disk, is not.',
  fix: 'Set encryption_at_host_enabled to true, once the subscription has the feature.',
  severity: 'info',
  told: 'once',
  says: 'leaves what the host keeps without encryption',
}
const hostDisks = `
${DOCS}/virtual-machines/disk-encryption-overview
azurerm_linux_virtual_machine,azurerm_windows_virtual_machine,${SCALE_SETS} encryption_at_host_enabled false|unset
`

const transit = `
${DOCS}/storage/common/storage-require-secure-transfer
azurerm_storage_account https_traffic_only_enabled false
azurerm_storage_account enable_https_traffic_only false
${DOCS}/azure-cache-for-redis/cache-configure#access-ports
azurerm_redis_cache non_ssl_port_enabled true
azurerm_redis_cache enable_non_ssl_port true
${DOCS}/mysql/single-server/concepts-ssl-connection-security
${SINGLE_SERVERS} ssl_enforcement_enabled false
${DOCS}/mysql/flexible-server/security-tls-how-to-connect
azurerm_mysql_flexible_server_configuration,azurerm_postgresql_flexible_server_configuration value OFF if name=require_secure_transport
${DOCS}/app-service/configure-ssl-bindings#enforce-https
${APPS} https_only false|unset
${DOCS}/app-service/deploy-ftp#enforce-ftps
${APPS} site_config.ftps_state AllAllowed
${DOCS}/app-service/overview-authentication-authorization
${APPS} auth_settings_v2.require_https false
${DOCS}/cdn/cdn-standard-rules-engine
azurerm_cdn_endpoint is_http_allowed true|unset if !delivery_rule
${DOCS}/frontdoor/front-door-how-to-redirect-https
azurerm_cdn_frontdoor_route https_redirect_enabled false
azurerm_cdn_frontdoor_route forwarding_protocol HttpOnly
${DOCS}/application-gateway/redirect-http-to-https-portal
azurerm_application_gateway http_listener.protocol Http if !redirect_configuration
${DOCS}/api-management/api-management-howto-api-version
azurerm_api_management_backend url http://*
azurerm_api_management_api protocols http
${DOCS}/container-apps/ingress-overview
azurerm_container_app ingress.allow_insecure_connections true
${PROVIDER}/spring_cloud_app
azurerm_spring_cloud_app https_only false|unset if is_public=true
azurerm_spring_cloud_api_portal,azurerm_spring_cloud_gateway https_only_enabled false|unset
`

const oldTls = `
${DOCS}/storage/common/transport-layer-security-configure-minimum-version
azurerm_storage_account min_tls_version TLS1_0,TLS1_1
${DOCS}/azure-sql/database/connectivity-settings#minimum-tls-version
azurerm_mssql_server,azurerm_sql_server minimum_tls_version 1.0,1.1,Disabled
azurerm_mssql_managed_instance minimum_tls_version 1.0,1.1
${SINGLE_SERVERS} ssl_minimal_tls_version_enforced TLS1_0,TLS1_1,TLSEnforcementDisabled
${DOCS}/mysql/flexible-server/security-tls
azurerm_mysql_flexible_server_configuration value TLSv1,*TLSv1.1* if name=tls_version
${DOCS}/azure-cache-for-redis/cache-remove-tls-10-11
azurerm_redis_cache,azurerm_redis_enterprise_database minimum_tls_version 1.0,1.1
${DOCS}/app-service/configure-ssl-bindings#enforce-tls-versions
${APPS} site_config.minimum_tls_version 1.0,1.1
${APPS} site_config.min_tls_version 1.0,1.1
${APPS} site_config.scm_minimum_tls_version 1.0,1.1
${DOCS}/service-bus-messaging/transport-layer-security-enforce-minimum-version
azurerm_servicebus_namespace,azurerm_eventhub_namespace minimum_tls_version 1.0,1.1
${DOCS}/iot-hub/iot-hub-tls-support
azurerm_iothub min_tls_version 1.0,1.1
${DOCS}/cosmos-db/self-serve-minimum-tls-enforcement
azurerm_cosmosdb_account minimal_tls_version Tls,Tls11
${DOCS}/application-gateway/application-gateway-ssl-policy-overview
azurerm_application_gateway ssl_policy.min_protocol_version TLSv1_0,TLSv1_1
azurerm_application_gateway ssl_policy.policy_name AppGwSslPolicy20150501,AppGwSslPolicy20170401
azurerm_application_gateway ssl_policy.cipher_suites *_3DES_*,*_DSS_*
${DOCS}/cdn/cdn-custom-ssl
azurerm_cdn_endpoint_custom_domain cdn_managed_https.tls_version None,TLS10
azurerm_cdn_endpoint_custom_domain user_managed_https.tls_version None,TLS10
azurerm_cdn_frontdoor_custom_domain tls.minimum_tls_version TLS10
${DOCS}/api-management/api-management-howto-manage-protocols-ciphers
azurerm_api_management security.frontend_ssl30_enabled true
azurerm_api_management security.frontend_tls10_enabled true
azurerm_api_management security.frontend_tls11_enabled true
azurerm_api_management security.backend_ssl30_enabled true
azurerm_api_management security.backend_tls10_enabled true
azurerm_api_management security.backend_tls11_enabled true
azurerm_api_management security.enable_frontend_ssl30 true
azurerm_api_management security.enable_frontend_tls10 true
azurerm_api_management security.enable_frontend_tls11 true
azurerm_api_management security.enable_backend_ssl30 true
azurerm_api_management security.enable_backend_tls10 true
azurerm_api_management security.enable_backend_tls11 true
`

const ANONYMOUS_REGISTRY: FaultClass = {
  name: 'storage.anonymous-registry',
  title: 'Container registry without login',
  reason: 'Anyone can pull every image of the registry.',
  fix: 'Set anonymous_pull_enabled to false.',
  severity: 'error',
  says: 'lets everyone pull',
}
/** A Basic registry has no anonymous pull, whatever the argument says, and the size is always written. */
const anonymousRegistry = `
${DOCS}/container-registry/anonymous-pull-access
azurerm_container_registry anonymous_pull_enabled true if sku=Standard,Premium
`

const PUBLIC_BLOBS: FaultClass = {
  name: 'storage.public-blobs-allowed',
  title: 'Storage account admits public containers',
  reason: 'A container of the account can be opened to the internet later; this is the default of the provider.',
  fix: 'Set allow_nested_items_to_be_public to false.',
  severity: 'warning',
  says: 'admits public containers',
}
/** The name before version 3 of the provider had false as its default. */
const publicBlobs = `
${DOCS}/storage/blobs/anonymous-read-access-prevent
azurerm_storage_account allow_nested_items_to_be_public true|unset if !allow_blob_public_access
azurerm_storage_account allow_blob_public_access true
`

const PUBLIC_DATA: FaultClass = {
  name: 'database.public-network',
  title: 'Data service with public network access',
  reason: 'The service has a public address; its firewall and its keys alone decide who gets in.',
  fix: 'Set public_network_access_enabled to false and use a private endpoint, or name the networks.',
  severity: 'warning',
  says: 'opens the service to the internet',
  byDefault: {
    name: 'database.public-by-default',
    title: 'Data service with public network access, by default',
    reason: 'The default of this resource is a public address; its firewall and its keys alone decide who gets in.',
    fix: 'Set public_network_access_enabled to false and use a private endpoint, or name the networks.',
    severity: 'info',
    told: 'once',
    says: 'is not set, and by default the service has a public address',
  },
}
const publicData = `
${DOCS}/azure-sql/database/connectivity-settings
azurerm_mssql_server public_network_access_enabled true|unset
azurerm_mssql_managed_instance public_data_endpoint_enabled true
${DOCS}/mysql/single-server/concepts-data-access-security-private-link
${SINGLE_SERVERS} public_network_access_enabled true|unset
${DOCS}/postgresql/flexible-server/concepts-networking-public
azurerm_postgresql_flexible_server public_network_access_enabled true|unset if !delegated_subnet_id
azurerm_mysql_flexible_server public_network_access Enabled|unset if !delegated_subnet_id
${DOCS}/cosmos-db/how-to-configure-firewall
azurerm_cosmosdb_account public_network_access_enabled true|unset if !ip_range_filter is_virtual_network_filter_enabled!=true
${DOCS}/azure-cache-for-redis/cache-private-link
azurerm_redis_cache public_network_access_enabled true|unset if !subnet_id
${DOCS}/storage/common/storage-network-security
azurerm_storage_account public_network_access_enabled true|unset if network_rules.default_action!=Deny
${DOCS}/key-vault/general/network-security
azurerm_key_vault public_network_access_enabled true|unset if network_acls.default_action!=Deny
${DOCS}/search/service-configure-firewall
azurerm_search_service public_network_access_enabled true|unset if !allowed_ips
azurerm_search_service allowed_ips open
${DOCS}/synapse-analytics/security/connectivity-settings
azurerm_synapse_workspace public_network_access_enabled true|unset
${DOCS}/data-explorer/security-network-restrict-public-access
azurerm_kusto_cluster public_network_access_enabled true|unset if !allowed_ip_ranges
`

/** Services that are public unless the code says otherwise; most of them are meant to be. */
const publicEndpoint = `
${DOCS}/container-registry/container-registry-access-selected-networks
azurerm_container_registry public_network_access_enabled true|unset if network_rule_set.default_action!=Deny
${DOCS}/azure-app-configuration/howto-disable-public-access
azurerm_app_configuration public_network_access Enabled|unset if sku!=free
${DOCS}/batch/public-network-access
azurerm_batch_account public_network_access_enabled true|unset if network_profile.account_access.default_action!=Deny
${DOCS}/ai-services/cognitive-services-virtual-networks
azurerm_cognitive_account public_network_access_enabled true|unset if network_acls.default_action!=Deny
${DOCS}/data-factory/data-factory-private-link
azurerm_data_factory public_network_enabled true|unset
${DOCS}/databricks/security/network/front-end/front-end-private-connect
azurerm_databricks_workspace public_network_access_enabled true|unset
${DOCS}/event-grid/configure-firewall
azurerm_eventgrid_domain,azurerm_eventgrid_topic public_network_access_enabled true|unset if !inbound_ip_rule
${DOCS}/event-hubs/network-security
azurerm_eventhub_namespace public_network_access_enabled true|unset if network_rulesets.default_action!=Deny
azurerm_servicebus_namespace public_network_access_enabled true|unset if network_rule_set.default_action!=Deny
${DOCS}/iot-hub/iot-hub-public-network-access
azurerm_iothub public_network_access_enabled true|unset
${DOCS}/machine-learning/how-to-configure-private-link
azurerm_machine_learning_workspace public_network_access_enabled true|unset
${DOCS}/api-management/private-endpoint
azurerm_api_management public_network_access_enabled true|unset if virtual_network_type!=Internal
${DOCS}/app-service/app-service-ip-restrictions
${WEB_APPS},${FUNCTION_APPS} public_network_access_enabled true|unset if !site_config.ip_restriction
${DOCS}/storage/file-sync/file-sync-networking-endpoints
azurerm_storage_sync incoming_traffic_policy AllowAllTraffic|unset
`

/** A cluster in its own network is told by the address of its API. */
const openCluster = `
${DOCS}/aks/api-server-authorized-ip-ranges
azurerm_kubernetes_cluster api_server_access_profile.authorized_ip_ranges open|unset if private_cluster_enabled!=true !api_server_authorized_ip_ranges
azurerm_kubernetes_cluster api_server_authorized_ip_ranges open if private_cluster_enabled!=true
`

const publicMachine = `
${DOCS}/virtual-network/ip-services/public-ip-addresses
azurerm_network_interface ip_configuration.public_ip_address_id set
${SCALE_SETS} network_interface.ip_configuration.public_ip_address set
${DOCS}/aks/use-node-public-ips
azurerm_kubernetes_cluster default_node_pool.node_public_ip_enabled true
azurerm_kubernetes_cluster default_node_pool.enable_node_public_ip true
azurerm_kubernetes_cluster_node_pool node_public_ip_enabled true
azurerm_kubernetes_cluster_node_pool enable_node_public_ip true
${DOCS}/container-instances/container-instances-virtual-network-concepts
azurerm_container_group ip_address_type Public|unset
`

const forwarding = `
${DOCS}/virtual-network/virtual-network-network-interface#enable-or-disable-ip-forwarding
azurerm_network_interface ip_forwarding_enabled true
azurerm_network_interface enable_ip_forwarding true
`

const noRoles = `
${DOCS}/aks/concepts-identity
azurerm_kubernetes_cluster role_based_access_control_enabled false
azurerm_kubernetes_cluster role_based_access_control.enabled false
`

const sharedAdmin = `
${DOCS}/container-registry/container-registry-authentication#admin-account
azurerm_container_registry admin_enabled true
${DOCS}/aks/manage-local-accounts-managed-azure-ad
azurerm_kubernetes_cluster local_account_disabled false|unset
`

const sharedKeys = `
${DOCS}/storage/common/shared-key-authorization-prevent
azurerm_storage_account shared_access_key_enabled true|unset
${DOCS}/cosmos-db/how-to-connect-role-based-access-control
azurerm_cosmosdb_account local_authentication_disabled false|unset if kind!=MongoDB
azurerm_cosmosdb_account access_key_metadata_writes_enabled true|unset
${DOCS}/service-bus-messaging/disable-local-authentication
azurerm_servicebus_namespace local_auth_enabled true|unset
azurerm_eventhub_namespace local_authentication_enabled true|unset
azurerm_eventgrid_domain,azurerm_eventgrid_topic local_auth_enabled true|unset
${DOCS}/azure-app-configuration/howto-disable-access-key-authentication
azurerm_app_configuration local_auth_enabled true|unset
${DOCS}/ai-services/disable-local-auth
azurerm_cognitive_account local_auth_enabled true|unset
azurerm_search_service local_authentication_enabled true|unset
azurerm_machine_learning_compute_cluster,azurerm_machine_learning_compute_instance local_auth_enabled true|unset
`

const passwords = `
${DOCS}/virtual-machines/linux/create-ssh-keys-detailed
azurerm_linux_virtual_machine,azurerm_linux_virtual_machine_scale_set disable_password_authentication false
azurerm_virtual_machine,azurerm_virtual_machine_scale_set os_profile_linux_config.disable_password_authentication false
azurerm_orchestrated_virtual_machine_scale_set os_profile.linux_configuration.disable_password_authentication false
`

const noSignIn = `
${DOCS}/azure-cache-for-redis/cache-configure
azurerm_redis_cache redis_configuration.authentication_enabled false
azurerm_redis_cache redis_configuration.enable_authentication false
${DOCS}/service-fabric/service-fabric-cluster-security
azurerm_service_fabric_cluster azure_active_directory.tenant_id unset if !certificate !certificate_common_names !client_certificate_thumbprint
`

const DEBUGGING: FaultClass = {
  name: 'compute.remote-debugging',
  title: 'Remote debugging switched on',
  reason: 'A debugger that connects reads the memory of the application and changes what it does.',
  fix: 'Switch it on only while somebody debugs.',
  severity: 'warning',
  says: 'admits debuggers',
}
const debugging = `
${DOCS}/app-service/configure-common
${APPS} site_config.remote_debugging_enabled true
`

const ANY_ORIGIN: FaultClass = {
  name: 'access.any-origin',
  title: 'Pages of every origin may call',
  reason: 'Any page that a user opens can use the application in their name.',
  fix: 'Name the origins.',
  severity: 'warning',
  says: 'admits every origin',
}
const anyOrigin = `
${DOCS}/app-service/app-service-web-tutorial-rest-api
${APPS} site_config.cors.allowed_origins \\*
`

const unwatched = `
${DOCS}/defender-for-cloud/defender-for-cloud-introduction
azurerm_security_center_subscription_pricing tier Free
${DOCS}/network-watcher/nsg-flow-logs-overview
azurerm_network_watcher_flow_log retention_policy.enabled false
azurerm_network_watcher_flow_log retention_policy.days <90 if retention_policy.days!=0
${DOCS}/azure-sql/database/auditing-overview
azurerm_mssql_database_extended_auditing_policy,azurerm_mssql_server_extended_auditing_policy retention_in_days <90 if retention_in_days!=0
azurerm_mssql_database_extended_auditing_policy,azurerm_mssql_server_extended_auditing_policy log_monitoring_enabled false if !storage_endpoint
azurerm_mssql_server,azurerm_sql_server extended_auditing_policy?.retention_in_days <90 if extended_auditing_policy.retention_in_days!=0
${DOCS}/azure-sql/database/threat-detection-overview
azurerm_mssql_server_security_alert_policy disabled_alerts set
azurerm_monitor_log_profile retention_policy.days <90 if retention_policy.days!=0
`

const stopped = `
${DOCS}/network-watcher/nsg-flow-logs-overview
azurerm_network_watcher_flow_log enabled false
${DOCS}/azure-sql/database/threat-detection-overview
azurerm_mssql_server_security_alert_policy state Disabled
${DOCS}/azure-sql/database/auditing-overview
azurerm_mssql_database_extended_auditing_policy,azurerm_mssql_server_extended_auditing_policy enabled false
${DOCS}/azure-monitor/essentials/diagnostic-settings
azurerm_monitor_diagnostic_setting log.enabled false
azurerm_monitor_activity_log_alert enabled false
${DOCS}/firewall/threat-intel
azurerm_firewall threat_intel_mode Off
azurerm_firewall_policy threat_intelligence_mode Off
`

const webFirewall = `
${DOCS}/web-application-firewall/ag/ag-overview
azurerm_web_application_firewall_policy policy_settings.enabled false
azurerm_application_gateway waf_configuration.enabled false
${DOCS}/web-application-firewall/afds/afds-overview
azurerm_frontdoor_firewall_policy,azurerm_cdn_frontdoor_firewall_policy enabled false
`

const logging = `
${DOCS}/aks/monitor-aks
azurerm_kubernetes_cluster oms_agent.log_analytics_workspace_id unset if !microsoft_defender !addon_profile
${DOCS}/app-service/troubleshoot-diagnostic-logs
${WEB_APPS},azurerm_app_service logs.http_logs unset
${DOCS}/postgresql/single-server/concepts-server-logs
azurerm_postgresql_configuration,azurerm_postgresql_flexible_server_configuration value OFF if name=log_checkpoints,log_connections,log_disconnections,connection_throttling,logfiles.download_enable
${DOCS}/mysql/flexible-server/concepts-audit-logs
azurerm_mysql_configuration,azurerm_mysql_flexible_server_configuration value OFF if name=audit_log_enabled
`

const unprotected = `
${DOCS}/key-vault/general/soft-delete-overview#purge-protection
azurerm_key_vault purge_protection_enabled false|unset
azurerm_key_vault soft_delete_enabled false
azurerm_app_configuration purge_protection_enabled false|unset if sku!=free
${DOCS}/backup/backup-azure-security-feature-cloud
azurerm_recovery_services_vault soft_delete_enabled false
azurerm_data_protection_backup_vault soft_delete Off
`

const rotation = `
${DOCS}/key-vault/keys/how-to-configure-key-rotation
azurerm_key_vault_key expiration_date unset if !rotation_policy
`

const networkPolicy = `
${DOCS}/aks/use-network-policies
azurerm_kubernetes_cluster network_profile.network_policy unset
`

export const azureTables: Rule[] = [
  ...tableRules('azure', ENCRYPTION, encryption),
  ...tableRules('azure', HOST_DISKS, hostDisks),
  ...tableRules('azure', KEY_ROTATION, rotation),
  ...tableRules('azure', TRANSIT, transit),
  ...tableRules('azure', OLD_TLS, oldTls),
  ...tableRules('azure', ANONYMOUS_REGISTRY, anonymousRegistry),
  ...tableRules('azure', PUBLIC_BLOBS, publicBlobs),
  ...tableRules('azure', PUBLIC_DATA, publicData),
  ...tableRules('azure', { ...PUBLIC_ENDPOINT, severity: 'info', told: 'once' }, publicEndpoint),
  ...tableRules('azure', OPEN_CLUSTER, openCluster),
  ...tableRules('azure', PUBLIC_MACHINE, publicMachine),
  ...tableRules('azure', FORWARDING, forwarding),
  ...tableRules('azure', NO_ROLES, noRoles),
  ...tableRules('azure', SHARED_ADMIN, sharedAdmin),
  ...tableRules('azure', SHARED_KEYS, sharedKeys),
  ...tableRules('azure', PASSWORDS, passwords),
  ...tableRules('azure', NO_SIGN_IN, noSignIn),
  ...tableRules('azure', DEBUGGING, debugging),
  ...tableRules('azure', ANY_ORIGIN, anyOrigin),
  ...tableRules('azure', EVIDENCE_INCOMPLETE, unwatched),
  ...tableRules('azure', EVIDENCE_STOPPED, stopped),
  ...tableRules('azure', WEB_FIREWALL_OFF, webFirewall),
  ...tableRules('azure', LOGGING, logging),
  ...tableRules('azure', NO_PROTECTION, unprotected),
  ...tableRules('azure', NO_NETWORK_POLICY, networkPolicy),
]
