import { wordsOf } from '../base/text.ts'
import { mainAction } from '../plan/actions.ts'
import type { Plan } from '../plan/plan.ts'
import type { Cloud, Rule, RuleMessage, Subject } from './rule.ts'
import { isAbsent, numberOf, objectOf, viewOf } from './view.ts'

// What records or watches goes first in an attack, and nobody misses it until it is needed.

interface Evidence {
  /** Types whose objects record or watch, or connect what does to what it watches. */
  types: string
  /** Arguments that connect a record or watch, for example `aws_cloudfront_distribution.web_acl_id`. */
  connections: string
  /** Arguments with the days that a record is kept; 0 means for ever. */
  retentions: string
}

const EVIDENCE: Partial<Record<Cloud, Evidence>> = {
  aws: {
    types: `
      aws_cloudtrail aws_cloudtrail_event_data_store aws_config_configuration_recorder
      aws_config_configuration_recorder_status aws_config_delivery_channel aws_config_organization_*
      aws_config_configuration_aggregator aws_config_conformance_pack aws_guardduty_detector* aws_guardduty_organization_*
      aws_guardduty_member aws_guardduty_publishing_destination aws_guardduty_malware_protection_plan aws_securityhub_account
      aws_securityhub_organization_configuration aws_securityhub_standards_subscription aws_securitylake_*
      aws_macie2_account aws_macie2_organization_configuration aws_inspector2_enabler
      aws_inspector2_organization_configuration aws_inspector2_member_association aws_detective_graph aws_detective_member
      aws_detective_organization_*
      aws_accessanalyzer_analyzer aws_flow_log aws_route53_query_log
      aws_route53_resolver_query_log_config_association aws_s3_bucket_logging aws_redshift_logging
      aws_wafv2_web_acl_association aws_wafregional_web_acl_association aws_wafv2_web_acl_logging_configuration
      aws_networkfirewall_logging_configuration aws_shield_protection`,
    connections: `
      aws_cloudfront_distribution.web_acl_id aws_cloudfront_distribution.logging_config
      aws_cloudtrail.cloud_watch_logs_group_arn aws_cloudtrail.insight_selector aws_eks_cluster.enabled_cluster_log_types
      aws_lb.access_logs aws_elb.access_logs aws_api_gateway_stage.access_log_settings
      aws_apigatewayv2_stage.access_log_settings aws_rds_cluster.enabled_cloudwatch_logs_exports
      aws_db_instance.enabled_cloudwatch_logs_exports aws_opensearch_domain.log_publishing_options`,
    retentions: `
      aws_cloudwatch_log_group.retention_in_days aws_cloudtrail_event_data_store.retention_period
      aws_config_retention_configuration.retention_period_in_days`,
  },
  azure: {
    types: `
      azurerm_monitor_diagnostic_setting azurerm_monitor_aad_diagnostic_setting azurerm_network_watcher_flow_log
      azurerm_security_center_subscription_pricing azurerm_security_center_contact azurerm_security_center_setting
      azurerm_advanced_threat_protection azurerm_mssql_server_extended_auditing_policy
      azurerm_mssql_database_extended_auditing_policy azurerm_mssql_server_security_alert_policy
      azurerm_log_analytics_solution azurerm_sentinel_*`,
    connections: `
      azurerm_application_gateway.firewall_policy_id
      azurerm_cdn_frontdoor_security_policy.security_policies`,
    retentions: 'azurerm_log_analytics_workspace.retention_in_days',
  },
  gcp: {
    types: `
      google_logging_project_sink google_logging_folder_sink google_logging_organization_sink
      google_logging_billing_account_sink google_project_iam_audit_config google_folder_iam_audit_config
      google_organization_iam_audit_config google_scc_*`,
    connections: 'google_compute_backend_service.security_policy google_compute_region_backend_service.security_policy',
    retentions: `
      google_logging_project_bucket_config.retention_days google_logging_folder_bucket_config.retention_days
      google_logging_organization_bucket_config.retention_days`,
  },
  oci: {
    types: 'oci_logging_log oci_cloud_guard_* oci_waf_web_app_firewall oci_events_rule',
    connections: '',
    retentions: 'oci_logging_log.retention_duration oci_audit_configuration.retention_period_days',
  },
}

const patternsOf = ({ types }: Evidence) => wordsOf(types).map((type) => new RegExp(`^${type.replaceAll('*', '.*')}$`))
const PATTERNS = Object.values(EVIDENCE).flatMap(patternsOf)

/** Reports whether objects of a type record or watch. */
export const isEvidence = (type: string): boolean => PATTERNS.some((pattern) => pattern.test(type))

/** A record that is kept at least so many days may be cut to them. */
const ENOUGH_DAYS = 90

const RECORDER = 'aws_config_configuration_recorder'

/** The rules about records and watches that a plan takes away, or does not start. */
export const evidenceRules: Rule[] = [
  ...Object.entries(EVIDENCE).flatMap(([cloud, evidence]) => rulesOf(cloud as Cloud, evidence)),
  {
    id: 'aws.evidence.not-started',
    title: 'Recorder that nothing starts',
    reason: 'A new recorder of configurations records nothing until it is started.',
    fix: 'Add aws_config_configuration_recorder_status with is_enabled true, after the delivery channel.',
    severity: 'warning',
    checkPlan: ({ resource_changes: changes }) =>
      changes.some((change) => change.type === `${RECORDER}_status` && mainAction(change) !== 'delete')
        ? []
        : changes
            .filter((change) => change.type === RECORDER && mainAction(change) === 'create')
            .map(({ address }) => ({ resource: address, message: 'No status starts it.' })),
  },
]

function rulesOf(cloud: Cloud, evidence: Evidence): Rule[] {
  const { connections, retentions } = evidence
  const patterns = patternsOf(evidence)
  const keysOf = argumentsByType(retentions)
  const linksOf = argumentsByType(connections)
  return [
    {
      id: `${cloud}.evidence.removed`,
      title: 'Record or watch taken away',
      reason: 'From then on nothing tells who did what, which is how an attack begins.',
      fix: 'Keep it in the code; where another takes its place, create that first.',
      severity: 'error',
      checkPlan: (plan: Plan) =>
        plan.resource_changes.flatMap((resource): RuleMessage[] => {
          const { address, type, change, mode } = resource
          if (mode === 'data' || resource.deposed !== undefined) return []
          const action = mainAction(resource)
          if (patterns.some((pattern) => pattern.test(type)))
            return action === 'delete' || action === 'forget' ? [{ resource: address, message: MESSAGES[action] }] : []
          if (action !== 'update') return []
          const after = { values: objectOf(change.after), unknown: change.after_unknown, sensitive: undefined }
          return (linksOf.get(type) ?? [])
            .filter((key) => !isAbsent(viewOf(objectOf(change.before)), key) && isAbsent(after, key))
            .map((key) => ({ resource: address, message: `${key} is taken away.` }))
        }),
    },
    {
      id: `${cloud}.evidence.shortened`,
      title: 'Record kept for a shorter time',
      reason: 'What is older is deleted, and most intrusions are noticed after weeks.',
      fix: `Keep records for at least ${ENOUGH_DAYS} days, or copy them elsewhere first.`,
      severity: 'warning',
      types: [...keysOf.keys()],
      looksAt: 'change',
      check: (subject: Subject) =>
        subject.action === 'update'
          ? (keysOf.get(subject.type) ?? []).filter((key) => isCut(subject, key)).map((key) => `${key} is cut.`)
          : [],
    },
  ]
}

const MESSAGES = {
  delete: 'It is deleted.',
  forget: 'It leaves the state, and nothing keeps it any more.',
}

function isCut(subject: Subject, key: string): boolean {
  const before = numberOf(viewOf(subject.before), key) ?? 0
  const after = numberOf(subject, key) ?? 0
  return after > 0 && after < ENOUGH_DAYS && (before === 0 || after < before)
}

/** Reads words such as `type.argument`. */
function argumentsByType(words: string): Map<string, string[]> {
  const byType = new Map<string, string[]>()
  for (const [type = '', key = ''] of wordsOf(words).map((word) => word.split('.')))
    byType.set(type, [...(byType.get(type) ?? []), key])
  return byType
}
