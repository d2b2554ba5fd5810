import { bad, type Case, configured, constant, fine } from '../support.ts'

const SUBSCRIPTION = '/subscriptions/00000000-0000-0000-0000-000000000001'
const OWNER_ROLE = '8e3af657-a8ff-443c-a75c-2fe8c4bcb635'
const OWNER_ID = `${SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/${OWNER_ROLE}`

export const azureCases: Case[] = [
  bad('azure.iam.broad-owner', 'subscription', 'azurerm_role_assignment', {
    role_definition_name: 'Owner',
    scope: SUBSCRIPTION,
  }),
  bad('azure.iam.broad-owner', 'by the id of the role', 'azurerm_role_assignment', {
    role_definition_id: OWNER_ID,
    scope: `${SUBSCRIPTION}/`,
  }),
  bad('azure.iam.broad-owner', 'management group', 'azurerm_role_assignment', {
    role_definition_name: 'User Access Administrator',
    scope: '/providers/Microsoft.Management/managementGroups/root',
  }),
  fine('azure.iam.broad-owner', 'reader', 'azurerm_role_assignment', {
    role_definition_name: 'Reader',
    scope: SUBSCRIPTION,
  }),
  fine('azure.iam.broad-owner', 'group', 'azurerm_role_assignment', {
    role_definition_name: 'Owner',
    scope: `${SUBSCRIPTION}/resourceGroups/a`,
  }),
  fine(
    'azure.iam.broad-owner',
    'unknown scope',
    'azurerm_role_assignment',
    { role_definition_name: 'Owner' },
    { after_unknown: { scope: true } },
  ),
  bad('azure.iam.narrow-owner', 'group', 'azurerm_role_assignment', {
    role_definition_name: 'Owner',
    scope: `${SUBSCRIPTION}/resourceGroups/a`,
  }),
  fine('azure.iam.narrow-owner', 'unknown scope', 'azurerm_role_assignment', { role_definition_name: 'Owner' }),
  bad('azure.iam.broad-contributor', 'subscription', 'azurerm_role_assignment', {
    role_definition_name: 'Contributor',
    scope: SUBSCRIPTION,
  }),
  fine('azure.iam.broad-contributor', 'group', 'azurerm_role_assignment', {
    role_definition_name: 'Contributor',
    scope: `${SUBSCRIPTION}/resourceGroups/a`,
  }),
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
  bad('azure.database.open-firewall', 'all', 'azurerm_mssql_firewall_rule', {
    start_ip_address: '0.0.0.0',
    end_ip_address: '255.255.255.255',
  }),
  bad('azure.database.open-firewall', 'nearly all', 'azurerm_postgresql_flexible_server_firewall_rule', {
    start_ip_address: '1.0.0.0',
    end_ip_address: '223.255.255.255',
  }),
  bad('azure.database.open-firewall', 'Redis', 'azurerm_redis_firewall_rule', {
    start_ip: '0.0.0.0',
    end_ip: '255.255.255.255',
  }),
  fine('azure.database.open-firewall', 'an office', 'azurerm_mssql_firewall_rule', {
    start_ip_address: '198.51.100.1',
    end_ip_address: '198.51.100.9',
  }),
  fine('azure.database.open-firewall', 'a private network', 'azurerm_mssql_firewall_rule', {
    start_ip_address: '10.0.0.0',
    end_ip_address: '10.255.255.255',
  }),
  fine('azure.database.open-firewall', 'no addresses', 'azurerm_mssql_firewall_rule', {
    start_ip_address: 'a.b.c.d',
    end_ip_address: '999.1.1.1',
  }),
  bad('azure.database.azure-services-allowed', 'the two zeros', 'azurerm_mssql_firewall_rule', {
    start_ip_address: '0.0.0.0',
    end_ip_address: '0.0.0.0',
  }),
  fine('azure.database.azure-services-allowed', 'an address', 'azurerm_mssql_firewall_rule', {
    start_ip_address: '198.51.100.1',
    end_ip_address: '198.51.100.1',
  }),
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
]
