import { CLOUDS, type Cloud } from '../../src/base/vocabulary.ts'

interface CodeExample {
  language: string
  code: string
  /** Line of the text in which the code begins. The first line is 1. */
  line: number
}

/**
 * Splits a Markdown text into its fenced code and its other lines. `open` is the line of an unclosed fence, else null.
 */
export function splitMarkdown(markdown: string): { prose: string[]; examples: CodeExample[]; open: number | null } {
  const prose: string[] = []
  const examples: CodeExample[] = []
  let inside = false
  markdown.split('\n').forEach((text, index) => {
    const language = /^\s*```(.*)$/.exec(text)?.[1]?.trim()
    if (language !== undefined && !inside) examples.push({ language, code: '', line: index + 2 })
    const example = examples.at(-1)
    if (language === undefined && inside && example !== undefined) example.code += `${text}\n`
    prose.push(inside || language !== undefined ? '' : text)
    if (language !== undefined) inside = !inside
  })
  return { prose, examples, open: inside ? (examples.at(-1)?.line ?? 2) - 1 : null }
}

/** Removes the code in backticks from a line. */
export const withoutCode = (line: string): string => line.replaceAll(/`[^`]*`/g, '``')

const GUIDELINES = [
  'abbreviations',
  'resources_list',
  'forbidden_actions',
  'resource_creation',
  'networking',
  'permissions',
  'drift_exceptions',
]
const GENERAL = [
  'general-guidelines-engine',
  'general-guidelines-requests',
  'general-guidelines-targeting_policies',
  'general-compliance-report',
  'general-compliance-impact',
]

/** Names of the prompts that rounds of these clouds ask for. Such a round fails when one is missing. */
export const neededPrompts = (clouds: readonly Cloud[]): string[] => [
  ...GENERAL,
  ...clouds.flatMap((cloud) => [
    ...GUIDELINES.map((name) => `${cloud}-guidelines-${name}`),
    ...(cloud === 'kubernetes' ? [] : [`${cloud}-guidelines-import_exceptions`]),
  ]),
]

/** Resource prompts that are always part of the platform, by cloud. There may be more. */
const RESOURCES: Record<Cloud, string> = {
  aws: `aurora bedrock cloudwatch dynamodb ec2 iam_role internet_gateway lambda nat_gateway rds redshift route53
    s3_bucket sagemaker security_group subnet vpc`,
  azure: `application_insights azure_openai container_app cosmosdb function key_vault nat_gateway network_security_group
    postgres_flexible_server redis_managed resource_group storage_account subnet virtual_machine virtual_network
    webapp`,
  gcp: `bigquery cloud_nat cloud_router cloud_run cloud_sql_postgres firewall gke_autopilot load_balancer project
    service_account spanner storage_bucket subnetwork vertex vpc_network`,
  oci: `autonomous_database block_volume compute_instance dns_zone file_storage functions iam_policy internet_gateway
    load_balancer nat_gateway network_security_group object_storage oke_cluster security_list subnet vault vcn`,
  kubernetes: `cluster_role cluster_role_binding config_map cron_job daemon_set deployment horizontal_pod_autoscaler
    ingress namespace network_policy persistent_volume_claim role role_binding secret service service_account
    stateful_set`,
}

/** Lists the prompts that the platform always ships. */
export const shippedPrompts = (): string[] => [
  ...neededPrompts(CLOUDS),
  ...CLOUDS.flatMap((cloud) => RESOURCES[cloud].split(/\s+/).map((name) => `${cloud}-resources-${name}`)),
]
