import { bad, type Case, configured, constant, deleted, fine } from '../support.ts'

const SUBSCRIPTION = '/subscriptions/00000000-0000-0000-0000-000000000001'
const OWNER_ROLE = '8e3af657-a8ff-443c-a75c-2fe8c4bcb635'
const OWNER_ID = `${SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/${OWNER_ROLE}`
const GROUP = `${SUBSCRIPTION}/resourceGroups/a`
const assigned = (make: typeof bad, rule: string, name: string, role_definition_name: string, scope: string) =>
  make(`azure.iam.${rule}`, name, 'azurerm_role_assignment', { role_definition_name, scope })
const range = (make: typeof bad, rule: string, name: string, start_ip_address: string, end_ip_address: string) =>
  make(`azure.database.${rule}`, name, 'azurerm_mssql_firewall_rule', { start_ip_address, end_ip_address })

export const azureCases: Case[] = [
  assigned(bad, 'broad-owner', 'subscription', 'Owner', SUBSCRIPTION),
  bad('azure.iam.broad-owner', 'by the id of the role', 'azurerm_role_assignment', {
    role_definition_id: OWNER_ID,
    scope: `${SUBSCRIPTION}/`,
  }),
  assigned(
    bad,
    'broad-owner',
    'management group',
    'User Access Administrator',
    '/providers/Microsoft.Management/managementGroups/root',
  ),
  assigned(fine, 'broad-owner', 'reader', 'Reader', SUBSCRIPTION),
  assigned(fine, 'broad-owner', 'group', 'Owner', GROUP),
  fine(
    'azure.iam.broad-owner',
    'unknown scope',
    'azurerm_role_assignment',
    { role_definition_name: 'Owner' },
    { after_unknown: { scope: true } },
  ),
  assigned(bad, 'narrow-owner', 'group', 'Owner', GROUP),
  fine('azure.iam.narrow-owner', 'unknown scope', 'azurerm_role_assignment', { role_definition_name: 'Owner' }),
  assigned(bad, 'broad-contributor', 'subscription', 'Contributor', SUBSCRIPTION),
  assigned(fine, 'broad-contributor', 'group', 'Contributor', GROUP),
  bad('azure.iam.wildcard-role', 'all', 'azurerm_role_definition', {
    permissions: [{ actions: ['*'], not_actions: [] }],
  }),
  fine('azure.iam.wildcard-role', 'some', 'azurerm_role_definition', {
    permissions: [{ actions: ['Microsoft.Storage/*/read'] }],
  }),
  bad('azure.iam.wildcard-role-with-exceptions', 'all but', 'azurerm_role_definition', {
    permissions: [{ actions: ['*'], not_actions: ['Microsoft.Authorization/*/Write'] }],
  }),
  bad('azure.iam.wildcard-role-with-exceptions', 'all data', 'azurerm_role_definition', {
    permissions: [{ data_actions: ['*'] }],
  }),
  fine('azure.iam.wildcard-role-with-exceptions', 'some', 'azurerm_role_definition', {
    permissions: [{ actions: ['*/read'] }],
  }),

  bad('azure.storage.public-container', 'blobs', 'azurerm_storage_container', { container_access_type: 'blob' }),
  bad('azure.storage.public-container', 'list too', 'azurerm_storage_container', {
    container_access_type: 'container',
  }),
  fine('azure.storage.public-container', 'private', 'azurerm_storage_container', { container_access_type: 'private' }),
  bad('azure.storage.public-blobs-allowed', 'new name', 'azurerm_storage_account', {
    allow_nested_items_to_be_public: true,
  }),
  bad('azure.storage.public-blobs-allowed', 'old name', 'azurerm_storage_account', { allow_blob_public_access: true }),
  fine('azure.storage.public-blobs-allowed', 'off', 'azurerm_storage_account', {
    allow_nested_items_to_be_public: false,
  }),
  bad('azure.network.open-service-firewall', 'a resource of its own', 'azurerm_storage_account_network_rules', {
    default_action: 'Allow',
  }),
  bad('azure.network.open-service-firewall', 'a block', 'azurerm_key_vault', {
    network_acls: [{ default_action: 'Allow' }],
  }),
  fine('azure.network.open-service-firewall', 'denied', 'azurerm_storage_account', {
    network_rules: [{ default_action: 'Deny' }],
  }),
  range(bad, 'open-firewall', 'all', '0.0.0.0', '255.255.255.255'),
  bad('azure.database.open-firewall', 'nearly all', 'azurerm_postgresql_flexible_server_firewall_rule', {
    start_ip_address: '1.0.0.0',
    end_ip_address: '223.255.255.255',
  }),
  bad('azure.database.open-firewall', 'Redis', 'azurerm_redis_firewall_rule', {
    start_ip: '0.0.0.0',
    end_ip: '255.255.255.255',
  }),
  range(fine, 'open-firewall', 'an office', '198.51.100.1', '198.51.100.9'),
  range(fine, 'open-firewall', 'a private network', '10.0.0.0', '10.255.255.255'),
  range(fine, 'open-firewall', 'no addresses', 'a.b.c.d', '999.1.1.1'),
  range(bad, 'azure-services-allowed', 'the two zeros', '0.0.0.0', '0.0.0.0'),
  range(fine, 'azure-services-allowed', 'an address', '198.51.100.1', '198.51.100.1'),
  bad('azure.database.open-account', 'as a set', 'azurerm_cosmosdb_account', { ip_range_filter: ['0.0.0.0/0'] }),
  bad('azure.database.open-account', 'as a text', 'azurerm_cosmosdb_account', {
    ip_range_filter: '198.51.100.7,0.0.0.0/0',
  }),
  fine('azure.database.open-account', 'the portal', 'azurerm_cosmosdb_account', {
    ip_range_filter: ['104.42.195.92', '0.0.0.0'],
  }),
  bad('azure.database.public-network', 'SQL', 'azurerm_mssql_server', { public_network_access_enabled: true }),
  fine('azure.database.public-network', 'off', 'azurerm_mssql_server', { public_network_access_enabled: false }),
  bad('azure.storage.anonymous-registry', 'on', 'azurerm_container_registry', { anonymous_pull_enabled: true }),
  fine('azure.storage.anonymous-registry', 'off', 'azurerm_container_registry', { anonymous_pull_enabled: false }),
  bad('azure.network.public-cluster-endpoint', 'profile', 'azurerm_kubernetes_cluster', {
    api_server_access_profile: [{ authorized_ip_ranges: ['0.0.0.0/0'] }],
  }),
  fine('azure.network.public-cluster-endpoint', 'private', 'azurerm_kubernetes_cluster', {
    private_cluster_enabled: true,
    api_server_access_profile: [{ authorized_ip_ranges: ['0.0.0.0/0'] }],
  }),
  bad('azure.encryption.disabled', 'database', 'azurerm_mssql_database', {
    transparent_data_encryption_enabled: false,
  }),
  bad('azure.encryption.disabled', 'disk', 'azurerm_managed_disk', { encryption_settings: [{ enabled: false }] }),
  fine('azure.encryption.disabled', 'on', 'azurerm_mssql_database', { transparent_data_encryption_enabled: true }),
  bad('azure.encryption.missing', 'pool', 'azurerm_synapse_sql_pool', { data_encrypted: null }),
  bad(
    'azure.encryption.missing',
    'a default filled in by the provider',
    'azurerm_automation_variable_string',
    { encrypted: false },
    { rest: configured('azurerm_automation_variable_string', { name: constant('x') }) },
  ),
  fine('azure.encryption.missing', 'on', 'azurerm_synapse_sql_pool', { data_encrypted: true }),
  bad('azure.evidence.removed', 'deleted', 'azurerm_monitor_diagnostic_setting', null, deleted()),
  fine('azure.evidence.removed', 'made', 'azurerm_monitor_diagnostic_setting', {}),
  bad(
    'azure.evidence.shortened',
    'to a month',
    'azurerm_log_analytics_workspace',
    { retention_in_days: 30 },
    { actions: ['update'], before: { retention_in_days: 365 } },
  ),
  fine('azure.evidence.shortened', 'made so', 'azurerm_log_analytics_workspace', { retention_in_days: 30 }),
]
