import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'

const DOCS = 'https://docs.aws.amazon.com'
const RDS = `${DOCS}/AmazonRDS/latest`

export const awsRecordsTable: Rule[] = tableRules(
  'aws',
  `
[LOGGING]
${DOCS}/elasticloadbalancing/latest/application/load-balancer-access-logs.html
aws_lb,aws_alb access_logs.enabled false|unset if load_balancer_type!=gateway
aws_elb access_logs.bucket unset
aws_elb access_logs.enabled false
${DOCS}/AmazonCloudFront/latest/DeveloperGuide/AccessLogs.html
aws_cloudfront_distribution logging_config.bucket unset
${DOCS}/apigateway/latest/developerguide/set-up-logging.html
aws_api_gateway_stage,aws_apigatewayv2_stage access_log_settings.destination_arn unset
aws_api_gateway_method_settings settings.logging_level OFF|unset
${DOCS}/eks/latest/userguide/control-plane-logs.html
aws_eks_cluster enabled_cluster_log_types unset
${RDS}/UserGuide/USER_LogAccess.html
aws_db_instance enabled_cloudwatch_logs_exports unset if engine!=aurora*
aws_rds_cluster,aws_docdb_cluster enabled_cloudwatch_logs_exports unset
${DOCS}/neptune/latest/userguide/auditing.html
aws_neptune_cluster enable_cloudwatch_logs_exports unset
${DOCS}/documentdb/latest/developerguide/event-auditing.html
aws_docdb_cluster_parameter_group parameter[name=audit_logs].value disabled|unset
${DOCS}/redshift/latest/mgmt/db-auditing.html
aws_redshift_cluster logging.enable false
${DOCS}/amazon-mq/latest/developer-guide/security-logging-monitoring.html
aws_mq_broker logs.general false|unset
aws_mq_broker logs.audit false|unset if engine_type=ActiveMQ
${DOCS}/msk/latest/developerguide/msk-logging.html
aws_msk_cluster logging_info.broker_logs unset
${DOCS}/opensearch-service/latest/developerguide/createdomain-configure-slow-logs.html
aws_opensearch_domain,aws_elasticsearch_domain log_publishing_options.enabled false|unset-outside
aws_opensearch_domain,aws_elasticsearch_domain log_publishing_options[log_type=AUDIT_LOGS].enabled unset-outside
${DOCS}/global-accelerator/latest/dg/monitoring-global-accelerator.flow-logs.html
aws_globalaccelerator_accelerator attributes.flow_logs_enabled false|unset
${DOCS}/AmazonECS/latest/developerguide/ecs-exec.html
aws_ecs_cluster configuration.execute_command_configuration.logging NONE
${DOCS}/step-functions/latest/dg/cw-logs.html
aws_sfn_state_machine logging_configuration.level OFF|unset
${DOCS}/appsync/latest/devguide/monitoring.html
aws_appsync_graphql_api log_config.cloudwatch_logs_role_arn unset
aws_appsync_graphql_api log_config.field_log_level NONE
${DOCS}/mwaa/latest/userguide/monitoring-airflow.html
aws_mwaa_environment logging_configuration.scheduler_logs.enabled false|unset
aws_mwaa_environment logging_configuration.worker_logs.enabled false|unset
aws_mwaa_environment logging_configuration.webserver_logs.enabled false|unset
${DOCS}/waf/latest/developerguide/classic-logging.html
aws_waf_web_acl,aws_wafregional_web_acl logging_configuration.log_destination unset
${DOCS}/codebuild/latest/APIReference/API_LogsConfig.html
aws_codebuild_project logs_config.cloudwatch_logs.status DISABLED if logs_config.s3_logs.status!=ENABLED
${DOCS}/emr/latest/ManagementGuide/emr-plan-debugging.html
aws_emr_cluster log_uri unset
${DOCS}/awscloudtrail/latest/userguide/send-cloudtrail-events-to-cloudwatch-logs.html
aws_cloudtrail cloud_watch_logs_group_arn unset

[EVIDENCE_STOPPED]
${DOCS}/awscloudtrail/latest/userguide/cloudtrail-turning-off-logging.html
aws_cloudtrail enable_logging false
aws_cloudtrail_event_data_store suspend true
${DOCS}/guardduty/latest/ug/guardduty_suspend-disable.html
aws_guardduty_detector enable false
aws_guardduty_detector datasources.s3_logs.enable false
aws_guardduty_detector datasources.kubernetes.audit_logs.enable false
aws_guardduty_detector_feature status DISABLED
${DOCS}/config/latest/developerguide/stop-start-recorder.html
aws_config_configuration_recorder_status is_enabled false
${DOCS}/macie/latest/user/suspend-macie.html
aws_macie2_account status PAUSED
aws_macie2_classification_job job_status CANCELLED,USER_PAUSED
${DOCS}/AmazonCloudWatch/latest/monitoring/alarm-actions.html
aws_cloudwatch_metric_alarm,aws_cloudwatch_composite_alarm actions_enabled false

[EVIDENCE_INCOMPLETE]
${DOCS}/awscloudtrail/latest/userguide/receive-cloudtrail-log-files-from-multiple-regions.html
aws_cloudtrail is_multi_region_trail false|unset
aws_cloudtrail include_global_service_events false
aws_cloudtrail_event_data_store multi_region_enabled false
${DOCS}/awscloudtrail/latest/userguide/logging-management-events-with-cloudtrail.html
aws_cloudtrail event_selector.include_management_events false
aws_cloudtrail event_selector[include_management_events!=false].read_write_type ReadOnly,WriteOnly
${DOCS}/awscloudtrail/latest/userguide/cloudtrail-log-file-validation-intro.html
aws_cloudtrail enable_log_file_validation false|unset
${DOCS}/config/latest/developerguide/select-resources.html
aws_config_configuration_recorder recording_group.all_supported false if !recording_group.exclusion_by_resource_types
aws_config_configuration_recorder recording_group.include_global_resource_types false|unset if recording_group.all_supported!=false
aws_config_configuration_aggregator account_aggregation_source.all_regions false|unset-inside
aws_config_configuration_aggregator organization_aggregation_source.all_regions false|unset-inside
${DOCS}/guardduty/latest/ug/guardduty_organizations.html
aws_guardduty_organization_configuration auto_enable_organization_members NONE
aws_guardduty_organization_configuration auto_enable false
aws_guardduty_organization_configuration_feature auto_enable NONE
${DOCS}/securityhub/latest/userguide/accounts-orgs-auto-enable.html
aws_securityhub_organization_configuration auto_enable false if organization_configuration.configuration_type!=CENTRAL
aws_securityhub_standards_control control_status DISABLED
${DOCS}/macie/latest/user/accounts-mgmt-ao-integrate.html
aws_macie2_organization_configuration,aws_detective_organization_configuration auto_enable false
${DOCS}/inspector/latest/user/adding-member-accounts.html
aws_inspector2_organization_configuration auto_enable.ec2 false
aws_inspector2_organization_configuration auto_enable.ecr false
${DOCS}/vpc/latest/userguide/flow-log-records.html
aws_flow_log traffic_type ACCEPT,REJECT
${DOCS}/AmazonCloudWatch/latest/logs/Working-with-log-groups-and-streams.html
aws_cloudwatch_log_group retention_in_days <90 if retention_in_days!=0 name=*cloudtrail*,*flow-log*,*flow_log*,*flowlog*,*aws-waf-logs*,*audit*
aws_cloudtrail_event_data_store retention_period <90
aws_config_retention_configuration retention_period_in_days <90
`,
)
