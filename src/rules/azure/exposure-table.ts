import { CLASSES } from '../classes.ts'
import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'
import { DOCS, FUNCTION_APPS, SCALE_SETS, SINGLE_SERVERS, WEB_APPS } from './types.ts'

export const azureExposureTable: Rule[] = tableRules(
  'azure',
  `
[PUBLIC_CONTAINER]
${DOCS}/storage/blobs/anonymous-read-access-configure
azurerm_storage_container container_access_type blob,container

[SERVICE_FIREWALL]
${DOCS}/storage/common/storage-network-security
azurerm_storage_account network_rules.default_action Allow
azurerm_storage_account_network_rules default_action Allow
azurerm_key_vault,azurerm_cognitive_account network_acls.default_action Allow
azurerm_container_registry,azurerm_servicebus_namespace network_rule_set.default_action Allow
azurerm_eventhub_namespace network_rulesets.default_action Allow

[ANONYMOUS_REGISTRY]
# A Basic registry has no anonymous pull, whatever the argument says, and the size is always written.
${DOCS}/container-registry/anonymous-pull-access
azurerm_container_registry anonymous_pull_enabled true if sku=Standard,Premium

[PUBLIC_BLOBS]
# The name before version 3 of the provider had false as its default.
${DOCS}/storage/blobs/anonymous-read-access-prevent
azurerm_storage_account allow_nested_items_to_be_public true|unset if !allow_blob_public_access
azurerm_storage_account allow_blob_public_access true

[PUBLIC_DATA]
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

[PUBLIC_ENDPOINT]
# Services that are public unless the code says otherwise; most of them are meant to be.
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
${DOCS}/spring-apps/enterprise/how-to-use-enterprise-api-portal
azurerm_spring_cloud_api_portal,azurerm_spring_cloud_gateway public_network_access_enabled true
${DOCS}/storage/file-sync/file-sync-networking-endpoints
azurerm_storage_sync incoming_traffic_policy AllowAllTraffic|unset

[OPEN_CLUSTER]
# A cluster in its own network is told by the address of its API.
${DOCS}/aks/api-server-authorized-ip-ranges
azurerm_kubernetes_cluster api_server_access_profile.authorized_ip_ranges open|unset if private_cluster_enabled!=true !api_server_authorized_ip_ranges
azurerm_kubernetes_cluster api_server_authorized_ip_ranges open if private_cluster_enabled!=true

[PUBLIC_MACHINE]
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

[FORWARDING]
${DOCS}/virtual-network/virtual-network-network-interface#enable-or-disable-ip-forwarding
azurerm_network_interface ip_forwarding_enabled true
azurerm_network_interface enable_ip_forwarding true

[WEB_FIREWALL_OFF]
${DOCS}/web-application-firewall/ag/ag-overview
azurerm_web_application_firewall_policy policy_settings.enabled false
azurerm_application_gateway waf_configuration.enabled false
${DOCS}/web-application-firewall/afds/afds-overview
azurerm_frontdoor_firewall_policy,azurerm_cdn_frontdoor_firewall_policy enabled false

[NO_NETWORK_POLICY]
${DOCS}/aks/use-network-policies
azurerm_kubernetes_cluster network_profile.network_policy unset
`,
  {
    PUBLIC_CONTAINER: {
      name: 'storage.public-container',
      title: 'Container that anyone can read',
      reason: 'Every blob in it can be read by everyone on the internet.',
      fix: 'Set the access type to private; hand out access by role or signed address.',
      severity: 'error',
      says: 'opens the blobs to everyone',
    },
    SERVICE_FIREWALL: {
      name: 'network.open-service-firewall',
      title: 'Firewall of a service admits every network',
      reason: 'The service can be reached from the internet; only its keys and roles are left between.',
      fix: 'Set the default action to Deny and name the networks, or use a private endpoint.',
      severity: 'warning',
      says: 'admits every network',
    },
    ANONYMOUS_REGISTRY: {
      name: 'storage.anonymous-registry',
      title: 'Container registry without login',
      reason: 'Anyone can pull every image of the registry.',
      fix: 'Set anonymous_pull_enabled to false.',
      severity: 'error',
      says: 'lets everyone pull',
    },
    PUBLIC_BLOBS: {
      name: 'storage.public-blobs-allowed',
      title: 'Storage account admits public containers',
      reason: 'A container of the account can be opened to the internet later; this is the default of the provider.',
      fix: 'Set allow_nested_items_to_be_public to false.',
      severity: 'warning',
      says: 'admits public containers',
    },
    PUBLIC_DATA: {
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
    },
    PUBLIC_ENDPOINT: { ...CLASSES.PUBLIC_ENDPOINT, severity: 'info', told: 'once' },
  },
)
