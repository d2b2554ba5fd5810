import { isEqualJson, isJsonObject, type Json } from '../base/json.ts'
import type { Change, ResourceChange } from './plan.ts'
import { hasMark } from './value-marks.ts'

/**
 * Arguments that only tell a provider how to work. An import cannot read them, so every later plan writes them into the
 * state. `timeouts` comes from the engine's provider library; `manifest` of `kubernetes_manifest` is compared by
 * `object`. The list holds arguments that were observed with the provider itself.
 */
const EVERYWHERE = ['timeouts']
const BY_TYPE: readonly [type: RegExp, names: readonly string[]][] = [
  [/^aws_db_instance$/, ['apply_immediately', 'final_snapshot_identifier']],
  [/^aws_ebs_volume$/, ['final_snapshot']],
  [/^aws_ecr_repository$/, ['force_delete']],
  [/^aws_kinesis_stream$/, ['enforce_consumer_deletion']],
  [/^aws_kms_key$/, ['bypass_policy_lockout_safety_check', 'deletion_window_in_days']],
  [/^aws_(iam_user|route53_zone|s3_bucket)$/, ['force_destroy']],
  [/^aws_secretsmanager_secret$/, ['force_overwrite_replica_secret', 'recovery_window_in_days']],
  [/^aws_security_group$/, ['revoke_rules_on_delete']],
  [/^kubernetes_(deployment|daemon_?set|stateful_set)(_v1)?$/, ['wait_for_rollout']],
  [/^kubernetes_(service|ingress)(_v1)?$/, ['wait_for_load_balancer']],
  [/^kubernetes_(job|pod)(_v1)?$/, ['wait_for_completion', 'target_state']],
  [/^kubernetes_namespace(_v1)?$/, ['wait_for_default_service_account']],
  [/^kubernetes_secret(_v1)?$/, ['wait_for_service_account_token']],
  [/^kubernetes_manifest$/, ['manifest', 'wait', 'wait_for', 'field_manager', 'computed_fields']],
]

/** Removes such arguments from a change where the state has none; others are compared as usual. */
export function withoutStateArguments({ type, change }: Pick<ResourceChange, 'type' | 'change'>): Change {
  const { before, after, after_unknown } = change
  if (!isJsonObject(before) || !isJsonObject(after)) return change
  const names = [...EVERYWHERE, ...BY_TYPE.flatMap(([pattern, list]) => (pattern.test(type) ? list : []))]
  const dropped = names.filter((name) => isAbsent(before[name]) && !isAbsent(after[name]))
  if (dropped.length === 0) return change
  const kept = Object.fromEntries(dropped.map((name) => [name, before[name] ?? null]))
  return { ...change, after: { ...after, ...kept }, after_unknown: without(after_unknown, dropped) }
}

/** Reports whether an update only writes such arguments into the state. */
export function changesStateAlone(resource: ResourceChange): boolean {
  const { actions, before } = resource.change
  if (actions.length !== 1 || actions[0] !== 'update' || !isJsonObject(before)) return false
  const rest = withoutStateArguments(resource)
  if (rest === resource.change || hasMark(rest.after_unknown) || !isJsonObject(rest.after)) return false
  const { after } = rest
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].every((name) =>
    isEqualJson(before[name] ?? null, after[name] ?? null),
  )
}

/** Reports whether a value is absent; the library returns an empty list for an omitted block. */
const isAbsent = (value: Json | undefined) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

const without = (marks: Json, names: readonly string[]): Json =>
  isJsonObject(marks) ? Object.fromEntries(Object.entries(marks).filter(([name]) => !names.includes(name))) : marks
