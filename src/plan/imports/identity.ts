import { isJsonObject, type Json, memberOf } from '../../base/json.ts'
import { wordsOf } from '../../base/text.ts'
import type { Cloud } from '../../base/vocabulary.ts'
import type { ResourceChange } from '../plan.ts'
import { typesNamedIn } from '../schema/read-schema.ts'
import { resourceKind } from './inventory.ts'

/** Kinds of AWS with the types of blocks that describe them. The ARNs of the first list end in the object's name. */
const NAMED = `
  sqs=aws_sqs_queue sns=aws_sns_topic s3=aws_s3_bucket dynamodb:table=aws_dynamodb_table
  lambda:function=aws_lambda_function iam:role=aws_iam_role,aws_iam_service_linked_role iam:user=aws_iam_user
  iam:group=aws_iam_group iam:policy=aws_iam_policy iam:instance-profile=aws_iam_instance_profile
  ecr:repository=aws_ecr_repository ecs:cluster=aws_ecs_cluster eks:cluster=aws_eks_cluster
  kinesis:stream=aws_kinesis_stream logs:log-group=aws_cloudwatch_log_group events:rule=aws_cloudwatch_event_rule
  cloudwatch:alarm=aws_cloudwatch_metric_alarm,aws_cloudwatch_composite_alarm ssm:parameter=aws_ssm_parameter
  states:stateMachine=aws_sfn_state_machine codebuild:project=aws_codebuild_project
  rds:db=aws_db_instance,aws_rds_cluster_instance,aws_docdb_cluster_instance,aws_neptune_cluster_instance
  rds:cluster=aws_rds_cluster,aws_docdb_cluster,aws_neptune_cluster`
const NUMBERED = `
  ec2:instance=aws_instance ec2:vpc=aws_vpc,aws_default_vpc ec2:subnet=aws_subnet,aws_default_subnet
  ec2:security-group=aws_security_group,aws_default_security_group ec2:internet-gateway=aws_internet_gateway
  ec2:route-table=aws_route_table,aws_default_route_table ec2:natgateway=aws_nat_gateway ec2:volume=aws_ebs_volume
  elasticloadbalancing:loadbalancer=aws_lb,aws_alb,aws_elb
  elasticloadbalancing:targetgroup=aws_lb_target_group,aws_alb_target_group
  kms:key=aws_kms_key,aws_kms_replica_key secretsmanager:secret=aws_secretsmanager_secret`
const typesByKind = (list: string) =>
  new Map(
    wordsOf(list).map((entry) => {
      const [kind = '', types = ''] = entry.split('=')
      return [kind, types.split(',')] as const
    }),
  )
const NAMED_KINDS = typesByKind(NAMED)
const AWS_TYPES = new Map([...NAMED_KINDS, ...typesByKind(NUMBERED)])
const KNOWN_TYPES = new Set([...AWS_TYPES.values()].flat())

/** Reports whether a block of a type describes objects of an identifier's kind. */
export function kindFit(cloud: Cloud, type: string, id: string): 'same' | 'other' | 'unknown' {
  const kind = resourceKind(cloud, id)
  if (kind === null) return 'unknown'
  if (cloud === 'aws') {
    if (AWS_TYPES.get(kind)?.includes(type)) return 'same'
    return KNOWN_TYPES.has(type) ? 'other' : 'unknown'
  }
  const plain = type.replaceAll('_', '')
  if (cloud === 'oci') return type.startsWith('oci_') && plain.endsWith(kind) ? 'same' : 'unknown'
  if (cloud === 'kubernetes' && type.startsWith('kubernetes_') && type !== 'kubernetes_manifest') {
    const own = type.replace(/_v\d+\w*$/, '').replace(/^kubernetes_(?:default_(?=service_account))?/, '')
    return own.replaceAll('_', '') === kind.split('/').at(-1)?.toLowerCase() ? 'same' : 'other'
  }
  return 'unknown'
}

/** Returns the existing types whose blocks describe objects of the identifiers' kinds, as far as that is known. */
export function typesFor(cloud: Cloud, ids: readonly string[], existing: readonly string[]): string[] {
  const byKind = new Map(ids.map((id) => [resourceKind(cloud, id), id]))
  const known = [...byKind.values()].flatMap((id) => existing.filter((type) => kindFit(cloud, type, id) === 'same'))
  // On Kubernetes a type without a version is the older spelling.
  const types = known.filter((type) => !known.includes(`${type}_v1`))
  const words = ids.join(' ').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
  return [...new Set([...types, ...typesNamedIn(words, existing)])]
}

/** Returns the names that an identifier gives to its object, the one to show first. */
function namesIn(cloud: Cloud, id: string): string[] {
  if (cloud === 'kubernetes') return [/(?:^|,)name=([^,]+)$/.exec(id)?.[1] ?? id]
  const resource = cloud === 'aws' ? /^arn:[^:]*:[^:]+:[^:]*:[^:]*:(.+)$/.exec(id)?.[1] : undefined
  if (resource === undefined) return [id.split('/').at(-1) || id, id]
  const name = resource.replace(/^[a-z-]+[:/]/i, '').replace(/:\*$/, '')
  return [name, `/${name}`, name.split(/[/:]/).at(-1) ?? name, resource, id]
}

/** True if identifiers of this kind hold the name of their object, so that another name is another object. */
function holdsName(cloud: Cloud, id: string): boolean {
  if (cloud === 'aws') return NAMED_KINDS.has(resourceKind(cloud, id) ?? '')
  return cloud === 'kubernetes' ? resourceKind(cloud, id) !== null : cloud === 'azure' && /\/providers\//i.test(id)
}

/** Arguments that name the object which a block describes, with the types where they do; elsewhere they refer to it. */
const NAMES: readonly (readonly [path: string, types: RegExp])[] = [
  ['name', /^(?!terraform_data$)/],
  ['bucket', /^aws_s3_bucket/],
  ['function_name', /^aws_lambda_function$/],
  ['identifier', /^aws_/],
  ['cluster_identifier', /^aws_\w+_cluster$/],
  ['replication_group_id', /^aws_elasticache_replication_group$/],
  ['alarm_name', /^aws_cloudwatch_\w+_alarm$/],
  ['display_name', /./],
  ['metadata.name', /^kubernetes_/],
  ['metadata.namespace', /^kubernetes_/],
  ['tags.Name', /./],
  ['tags.name', /./],
  ['labels.name', /./],
  // The built-in type has one argument for whatever it stands for.
  ['input', /^terraform_data$/],
  ['input.name', /^terraform_data$/],
]

/** Reads the texts by which values of a type name their object, by argument. */
export function identifyingValues(type: string, values: Json | undefined): Map<string, string> {
  const found = NAMES.flatMap(([path, types]) => {
    const [first = '', second] = path.split('.')
    const value = types.test(type) ? memberOf(values, first) : null
    const outer = Array.isArray(value) ? value[0] : value
    const text = second === undefined ? outer : isJsonObject(outer) ? outer[second] : undefined
    return typeof text === 'string' && text !== '' ? [[path, text] as const] : []
  })
  return new Map(found)
}

/** Returns the argument of a block in which an identifier or the name in it stands; null when there is none. */
export function namedIn(cloud: Cloud, block: ResourceChange, id: string): string | null {
  if (kindFit(cloud, block.type, id) === 'other') return null
  const spelling = (text: string) => (cloud === 'azure' ? text.toLowerCase() : text)
  const names = namesIn(cloud, id).map(spelling)
  const entries = [...identifyingValues(block.type, block.change.after)]
  return entries.find(([path, value]) => !isShared(path) && names.includes(spelling(value)))?.[0] ?? null
}

const isShared = (path: string) => path === 'metadata.namespace'
const isTag = (path: string) => /^(?:tags|labels)\./.test(path)

/**
 * Returns what in kind and name contradicts that an identifier is of the object that a block describes; null for
 * nothing. A name contradicts when the identifier has to hold it, or when it is that of another identifier.
 * @param others identifiers that may belong to the block as well
 */
export function findContradiction(
  cloud: Cloud,
  block: ResourceChange,
  id: string,
  others: readonly string[],
): string | null {
  const fit = kindFit(cloud, block.type, id)
  if (fit === 'other') return `the identifier is one of ${resourceKind(cloud, id)}, the block describes ${block.type}`
  if (namedIn(cloud, block, id) !== null) return null
  const entries = [...identifyingValues(block.type, block.change.after)]
  const claimed = others.some((other) => other !== id && namedIn(cloud, block, other) !== null)
  const certain = fit !== 'unknown' || cloud === 'azure' ? holdsName(cloud, id) : false
  const [path, value] = entries.find(([one]) => !isShared(one) && (claimed || (certain && !isTag(one)))) ?? []
  if (path === undefined) return null
  return `the block has ${path} "${value}", the identifier names "${namesIn(cloud, id)[0]}"`
}

/** An identifier and the address of a block. */
interface Match {
  address: string
  resource_id: string
}

/**
 * Matches identifiers with blocks as far as each has exactly one counterpart: first where the block has the name or
 * the identifier as text, then where one identifier and one block are left, of the same kind.
 * @param blocks entries of the plan that create an object
 */
export function matchLiterally(cloud: Cloud, ids: readonly string[], blocks: readonly ResourceChange[]): Match[] {
  const named = uniqueMatches(ids, blocks, (id, block) => namedIn(cloud, block, id) !== null)
  const isFree = (id: string) => named.every((match) => match.resource_id !== id)
  const restIds = ids.filter(isFree)
  const restBlocks = blocks.filter(({ address }) => named.every((match) => match.address !== address))
  const [id, block] = [restIds[0], restBlocks[0]]
  if (id === undefined || block === undefined || restIds.length > 1 || restBlocks.length > 1) return named
  if (kindFit(cloud, block.type, id) !== 'same' || findContradiction(cloud, block, id, ids) !== null) return named
  return [...named, { address: block.address, resource_id: id }]
}

function uniqueMatches(
  ids: readonly string[],
  blocks: readonly ResourceChange[],
  fits: (id: string, block: ResourceChange) => boolean,
): Match[] {
  return ids.flatMap((id) => {
    const [block, ...more] = blocks.filter((one) => fits(id, one))
    if (block === undefined || more.length > 0 || ids.some((other) => other !== id && fits(other, block))) return []
    return [{ address: block.address, resource_id: id }]
  })
}
