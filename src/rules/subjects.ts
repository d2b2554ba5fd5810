import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { withoutIndexes } from '../plan/addresses.ts'
import { managedChanges } from '../plan/changes.ts'
import type { Plan } from '../plan/plan.ts'
import { changesOutsideTargets } from '../plan/targets/targets.ts'
import { expressionsByAddress } from './common/expressions.ts'
import { typedManifest } from './kubernetes/manifest.ts'
import type { PlanContext, Subject } from './types.ts'

const RAW_MANIFESTS = new Set(['kubernetes_manifest', 'kubectl_manifest'])
const objectOf = (value: Json): JsonObject => (isJsonObject(value) ? value : {})

/** The changes of a plan as rules see them, without objects left over from interrupted replacements. */
export function subjectsOf(plan: Plan): Subject[] {
  return managedChanges(plan)
    .filter(({ resource }) => resource.deposed === undefined)
    .map(({ resource: { address, type, change }, action }) => {
      const subject: Subject = {
        address,
        type,
        action,
        values: action === 'delete' ? {} : objectOf(change.after),
        unknown: change.after_unknown,
        sensitive: change.after_sensitive,
        before: objectOf(change.before),
      }
      return RAW_MANIFESTS.has(type) ? (typedManifest(subject) ?? subject) : subject
    })
}

/** The resource as it was before an update, in the place of the planned values. */
export const beforeOf = (subject: Subject): Subject => ({ ...subject, values: subject.before, unknown: undefined })

const NOTHING: JsonObject = {}

/** Computes what rules may know of a plan beside the resource that they look at. */
export function planContext(plan: Plan, targets: readonly string[]): PlanContext {
  const expressions = expressionsByAddress(plan)
  return {
    outside: new Set(changesOutsideTargets(plan, targets).map(({ address }) => address)),
    expressionsOf: (address) => expressions.get(withoutIndexes(address)) ?? NOTHING,
  }
}
