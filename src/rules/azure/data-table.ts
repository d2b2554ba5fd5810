import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'
import { APPS, DOCS, SCALE_SETS, SINGLE_SERVERS } from './types.ts'

/** The provider's own defaults, which are not always those of the service. */
const PROVIDER = 'https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources'

export const azureDataTable: Rule[] = tableRules(
  'azure',
  `
[ENCRYPTION]
# Azure always encrypts storage at rest; the switch of a managed disk controls additional Azure Disk Encryption.
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

[HOST_DISKS]
${DOCS}/virtual-machines/disk-encryption-overview
azurerm_linux_virtual_machine,azurerm_windows_virtual_machine,${SCALE_SETS} encryption_at_host_enabled false|unset

[KEY_ROTATION]
${DOCS}/key-vault/keys/how-to-configure-key-rotation
azurerm_key_vault_key expiration_date unset if !rotation_policy

[TRANSIT]
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

[OLD_TLS]
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

[NO_PROTECTION]
${DOCS}/key-vault/general/soft-delete-overview#purge-protection
azurerm_key_vault purge_protection_enabled false|unset
azurerm_key_vault soft_delete_enabled false
azurerm_app_configuration purge_protection_enabled false|unset if sku!=free
${DOCS}/backup/backup-azure-security-feature-cloud
azurerm_recovery_services_vault soft_delete_enabled false
azurerm_data_protection_backup_vault soft_delete Off
`,
  {
    HOST_DISKS: {
      name: 'encryption.host-disks',
      title: 'Caches and temporary disks of a machine without encryption',
      reason: 'Disks are encrypted where they are stored; what the host keeps of them, and its temporary disk, is not.',
      fix: 'Set encryption_at_host_enabled to true, once the subscription has the feature.',
      severity: 'info',
      told: 'once',
      says: 'leaves what the host keeps without encryption',
    },
  },
)
