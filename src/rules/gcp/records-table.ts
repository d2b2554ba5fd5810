import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'

const DOCS = 'https://cloud.google.com'
const POSTGRES = 'database_version=POSTGRES*'

export const gcpRecordsTable: Rule[] = tableRules(
  'gcp',
  `
[LOGGING]
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

[EVIDENCE_STOPPED]
${DOCS}/logging/docs/export/configure_export_v2
google_logging_project_sink,google_logging_folder_sink,google_logging_organization_sink,google_logging_billing_account_sink disabled true
${DOCS}/kubernetes-engine/docs/how-to/config-logging-monitoring
google_container_cluster logging_service none
google_container_cluster monitoring_service none

[EVIDENCE_INCOMPLETE]
${DOCS}/logging/docs/audit/configure-data-access
google_project_iam_audit_config,google_folder_iam_audit_config,google_organization_iam_audit_config audit_log_config.exempted_members set
${DOCS}/logging/docs/buckets#custom-retention
google_logging_project_bucket_config,google_logging_folder_bucket_config,google_logging_organization_bucket_config retention_days <30
`,
)
