import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'
import { DOCS, WEB_APPS } from './types.ts'

export const azureRecordsTable: Rule[] = tableRules(
  'azure',
  `
[LOGGING]
${DOCS}/aks/monitor-aks
azurerm_kubernetes_cluster oms_agent.log_analytics_workspace_id unset if !microsoft_defender !addon_profile
${DOCS}/app-service/troubleshoot-diagnostic-logs
${WEB_APPS},azurerm_app_service logs.http_logs unset
${DOCS}/postgresql/single-server/concepts-server-logs
azurerm_postgresql_configuration,azurerm_postgresql_flexible_server_configuration value OFF if name=log_checkpoints,log_connections,log_disconnections,connection_throttling,logfiles.download_enable
${DOCS}/mysql/flexible-server/concepts-audit-logs
azurerm_mysql_configuration,azurerm_mysql_flexible_server_configuration value OFF if name=audit_log_enabled

[EVIDENCE_STOPPED]
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

[EVIDENCE_INCOMPLETE]
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
azurerm_mysql_server,azurerm_postgresql_server threat_detection_policy.enabled false|unset
azurerm_monitor_log_profile retention_policy.days <90 if retention_policy.days!=0
`,
)
