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
  bad('azure.storage.anonymous-registry', 'on', 'azurerm_container_registry', {
    sku: 'Standard',
    anonymous_pull_enabled: true,
  }),
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

  bad('azure.encryption.missing', 'disks of a cluster', 'azurerm_kusto_cluster', {}),
  fine('azure.encryption.missing', 'disks of a cluster', 'azurerm_kusto_cluster', { disk_encryption_enabled: true }),
  bad('azure.encryption.no-key-rotation', 'no end', 'azurerm_key_vault_key', { name: 'a' }),
  fine('azure.encryption.no-key-rotation', 'a policy', 'azurerm_key_vault_key', { rotation_policy: [{}] }),
  bad('azure.transit.plain', 'storage', 'azurerm_storage_account', { https_traffic_only_enabled: false }),
  bad('azure.transit.plain', 'plain port', 'azurerm_redis_cache', { non_ssl_port_enabled: true }),
  bad('azure.transit.plain', 'listener', 'azurerm_application_gateway', { http_listener: [{ protocol: 'Http' }] }),
  fine('azure.transit.plain', 'listener that redirects', 'azurerm_application_gateway', {
    http_listener: [{ protocol: 'Http' }],
    redirect_configuration: [{ name: 'to-https' }],
  }),
  bad('azure.transit.plain', 'database parameter', 'azurerm_mysql_flexible_server_configuration', {
    name: 'require_secure_transport',
    value: 'OFF',
  }),
  fine('azure.transit.plain', 'another parameter', 'azurerm_mysql_flexible_server_configuration', {
    name: 'slow_query_log',
    value: 'OFF',
  }),
  bad('azure.transit.plain-by-default', 'web application', 'azurerm_linux_web_app', { name: 'a' }),
  fine('azure.transit.plain-by-default', 'https alone', 'azurerm_linux_web_app', { https_only: true }),
  bad('azure.transit.old-tls', 'web application', 'azurerm_linux_web_app', {
    site_config: [{ minimum_tls_version: '1.0' }],
  }),
  bad('azure.transit.old-tls', 'parameter', 'azurerm_mysql_flexible_server_configuration', {
    name: 'tls_version',
    value: 'TLSv1.1,TLSv1.2',
  }),
  fine('azure.transit.old-tls', 'storage', 'azurerm_storage_account', { min_tls_version: 'TLS1_2' }),
  fine('azure.storage.anonymous-registry', 'Basic has none', 'azurerm_container_registry', {
    sku: 'Basic',
    anonymous_pull_enabled: true,
  }),
  fine('azure.database.public-network', 'a firewall', 'azurerm_key_vault', {
    public_network_access_enabled: true,
    network_acls: [{ default_action: 'Deny' }],
  }),
  bad('azure.database.public-by-default', 'SQL', 'azurerm_mssql_server', {}),
  fine('azure.database.public-by-default', 'in a network', 'azurerm_postgresql_flexible_server', {
    delegated_subnet_id: 'a',
  }),
  bad('azure.network.public-endpoint', 'queue', 'azurerm_servicebus_namespace', {}),
  fine('azure.network.public-endpoint', 'private', 'azurerm_servicebus_namespace', {
    public_network_access_enabled: false,
  }),
  bad('azure.network.public-cluster-endpoint', 'nothing said', 'azurerm_kubernetes_cluster', { name: 'a' }),
  fine('azure.network.public-cluster-endpoint', 'an office', 'azurerm_kubernetes_cluster', {
    api_server_access_profile: [{ authorized_ip_ranges: ['198.51.100.0/24'] }],
  }),
  bad('azure.network.public-machine', 'an address', 'azurerm_network_interface', {
    ip_configuration: [{ public_ip_address_id: '/a' }],
  }),
  bad(
    'azure.network.public-machine',
    'an address that is made with it',
    'azurerm_network_interface',
    { ip_configuration: [{ name: 'a' }] },
    {
      after_unknown: { ip_configuration: [{ public_ip_address_id: true }] },
      rest: configured('azurerm_network_interface', {
        ip_configuration: [{ public_ip_address_id: { references: ['azurerm_public_ip.a.id'] } }],
      }),
    },
  ),
  fine('azure.network.public-machine', 'none', 'azurerm_network_interface', { ip_configuration: [{ name: 'a' }] }),
  bad('azure.network.ip-forwarding', 'on', 'azurerm_network_interface', { ip_forwarding_enabled: true }),
  fine('azure.network.ip-forwarding', 'off', 'azurerm_network_interface', { ip_forwarding_enabled: false }),
  bad('azure.access.no-roles', 'off', 'azurerm_kubernetes_cluster', { role_based_access_control_enabled: false }),
  fine('azure.access.no-roles', 'on', 'azurerm_kubernetes_cluster', { role_based_access_control_enabled: true }),
  bad('azure.access.shared-admin', 'registry', 'azurerm_container_registry', { admin_enabled: true }),
  fine('azure.access.shared-admin', 'registry', 'azurerm_container_registry', { admin_enabled: false }),
  bad('azure.access.shared-admin-by-default', 'cluster', 'azurerm_kubernetes_cluster', {}),
  fine('azure.access.shared-admin-by-default', 'cluster', 'azurerm_kubernetes_cluster', {
    local_account_disabled: true,
  }),
  bad('azure.access.shared-keys', 'storage', 'azurerm_storage_account', { shared_access_key_enabled: true }),
  fine('azure.access.shared-keys', 'storage', 'azurerm_storage_account', { shared_access_key_enabled: false }),
  bad('azure.access.machine-password', 'Linux', 'azurerm_linux_virtual_machine', {
    disable_password_authentication: false,
  }),
  fine('azure.access.machine-password', 'Linux', 'azurerm_linux_virtual_machine', {
    disable_password_authentication: true,
  }),
  bad('azure.access.no-sign-in', 'cache', 'azurerm_redis_cache', {
    redis_configuration: [{ authentication_enabled: false }],
  }),
  fine('azure.access.no-sign-in', 'cache', 'azurerm_redis_cache', {
    redis_configuration: [{ authentication_enabled: true }],
  }),
  bad('azure.compute.remote-debugging', 'on', 'azurerm_linux_function_app', {
    site_config: [{ remote_debugging_enabled: true }],
  }),
  fine('azure.compute.remote-debugging', 'off', 'azurerm_linux_function_app', { site_config: [{}] }),
  bad('azure.access.any-origin', 'all', 'azurerm_linux_function_app', {
    site_config: [{ cors: [{ allowed_origins: ['*'] }] }],
  }),
  fine('azure.access.any-origin', 'one', 'azurerm_linux_function_app', {
    site_config: [{ cors: [{ allowed_origins: ['https://*.example.com'] }] }],
  }),
  bad('azure.evidence.incomplete', 'a database that nobody watches', 'azurerm_postgresql_server', {}),
  fine('azure.evidence.incomplete', 'a database that is watched', 'azurerm_postgresql_server', {
    threat_detection_policy: [{ enabled: true }],
  }),
  bad('azure.evidence.incomplete', 'a short time', 'azurerm_network_watcher_flow_log', {
    retention_policy: [{ enabled: true, days: 7 }],
  }),
  fine('azure.evidence.incomplete', 'for good', 'azurerm_network_watcher_flow_log', {
    retention_policy: [{ enabled: true, days: 0 }],
  }),
  bad('azure.evidence.stopped', 'flow log', 'azurerm_network_watcher_flow_log', { enabled: false }),
  fine('azure.evidence.stopped', 'flow log', 'azurerm_network_watcher_flow_log', { enabled: true }),
  bad('azure.network.web-firewall-off', 'off', 'azurerm_web_application_firewall_policy', {
    policy_settings: [{ enabled: false }],
  }),
  fine('azure.network.web-firewall-off', 'detection', 'azurerm_web_application_firewall_policy', {
    policy_settings: [{ enabled: true, mode: 'Detection' }],
  }),
  bad('azure.logging.missing', 'cluster', 'azurerm_kubernetes_cluster', {}),
  fine('azure.logging.missing', 'cluster', 'azurerm_kubernetes_cluster', {
    oms_agent: [{ log_analytics_workspace_id: '/a' }],
  }),
  bad('azure.stateful.unprotected', 'vault', 'azurerm_key_vault', {}),
  fine('azure.stateful.unprotected', 'vault', 'azurerm_key_vault', { purge_protection_enabled: true }),
  bad('azure.network.no-pod-policy', 'none', 'azurerm_kubernetes_cluster', { network_profile: [{}] }),
  fine('azure.network.no-pod-policy', 'one', 'azurerm_kubernetes_cluster', {
    network_profile: [{ network_policy: 'cilium' }],
  }),
  bad('azure.encryption.host-disks', 'machine', 'azurerm_linux_virtual_machine', {}),
  fine('azure.encryption.host-disks', 'on', 'azurerm_windows_virtual_machine', { encryption_at_host_enabled: true }),
  bad('azure.storage.public-blobs-allowed', 'by default', 'azurerm_storage_account', {}),
  fine('azure.storage.anonymous-registry', 'size that is known later', 'azurerm_container_registry', {
    anonymous_pull_enabled: true,
  }),
  bad('azure.network.public-endpoint', 'application', 'azurerm_linux_web_app', {}),
  fine('azure.network.public-endpoint', 'named networks', 'azurerm_linux_web_app', {
    site_config: [{ ip_restriction: [{ ip_address: '198.51.100.0/24' }] }],
  }),
  bad('azure.network.public-endpoint', 'management of APIs', 'azurerm_api_management', {}),
  fine('azure.network.public-endpoint', 'in a network', 'azurerm_api_management', { virtual_network_type: 'Internal' }),
  bad('azure.network.public-endpoint', 'registry', 'azurerm_container_registry', { sku: 'Standard' }),
  bad('azure.network.public-endpoint', 'file sync', 'azurerm_storage_sync', {}),
  bad('azure.network.public-endpoint', 'hub', 'azurerm_iothub', {}),
  bad('azure.transit.plain', 'sign-in of an application', 'azurerm_linux_function_app', {
    https_only: true,
    auth_settings_v2: [{ require_https: false }],
  }),
  bad('azure.transit.old-tls', 'old ciphers', 'azurerm_application_gateway', {
    ssl_policy: [{ min_protocol_version: 'TLSv1_2', cipher_suites: ['TLS_RSA_WITH_3DES_EDE_CBC_SHA'] }],
  }),
  bad('azure.evidence.incomplete', 'alerts off', 'azurerm_mssql_server_security_alert_policy', {
    disabled_alerts: ['Sql_Injection'],
  }),
  bad('azure.evidence.incomplete', 'audit that goes nowhere', 'azurerm_mssql_database_extended_auditing_policy', {
    log_monitoring_enabled: false,
  }),
  fine('azure.evidence.incomplete', 'audit in storage', 'azurerm_mssql_database_extended_auditing_policy', {
    log_monitoring_enabled: false,
    storage_endpoint: 'https://example.blob.core.windows.net',
    retention_in_days: 120,
  }),
  fine('azure.evidence.incomplete', 'no audit of its own', 'azurerm_mssql_server', {}),
]
