import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'
import { APPS, DOCS } from './types.ts'

export const azureAccessTable: Rule[] = tableRules(
  'azure',
  `
[NO_ROLES]
${DOCS}/aks/concepts-identity
azurerm_kubernetes_cluster role_based_access_control_enabled false
azurerm_kubernetes_cluster role_based_access_control.enabled false

[SHARED_ADMIN]
${DOCS}/container-registry/container-registry-authentication#admin-account
azurerm_container_registry admin_enabled true
${DOCS}/aks/manage-local-accounts-managed-azure-ad
azurerm_kubernetes_cluster local_account_disabled false|unset

[SHARED_KEYS]
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

[PASSWORDS]
${DOCS}/virtual-machines/linux/create-ssh-keys-detailed
azurerm_linux_virtual_machine,azurerm_linux_virtual_machine_scale_set disable_password_authentication false
azurerm_virtual_machine,azurerm_virtual_machine_scale_set os_profile_linux_config.disable_password_authentication false
azurerm_orchestrated_virtual_machine_scale_set os_profile.linux_configuration.disable_password_authentication false

[NO_SIGN_IN]
${DOCS}/azure-cache-for-redis/cache-configure
azurerm_redis_cache redis_configuration.authentication_enabled false
azurerm_redis_cache redis_configuration.enable_authentication false
${DOCS}/service-fabric/service-fabric-cluster-security
azurerm_service_fabric_cluster azure_active_directory.tenant_id unset if !certificate !certificate_common_names !client_certificate_thumbprint

[DEBUGGING]
${DOCS}/app-service/configure-common
${APPS} site_config.remote_debugging_enabled true

[ANY_ORIGIN]
${DOCS}/app-service/app-service-web-tutorial-rest-api
${APPS} site_config.cors.allowed_origins \\*
`,
  {
    DEBUGGING: {
      name: 'compute.remote-debugging',
      title: 'Remote debugging switched on',
      reason: 'A debugger that connects reads the memory of the application and changes what it does.',
      fix: 'Switch it on only while somebody debugs.',
      severity: 'warning',
      says: 'admits debuggers',
    },
    ANY_ORIGIN: {
      name: 'access.any-origin',
      title: 'Pages of every origin may call',
      reason: 'Any page that a user opens can use the application in their name.',
      fix: 'Name the origins.',
      severity: 'warning',
      says: 'admits every origin',
    },
  },
)
