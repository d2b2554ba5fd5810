import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { managedChanges } from '../plan/changes.ts'
import type { Plan } from '../plan/plan.ts'
import { typedManifest } from './kubernetes/manifest.ts'
import type { Subject } from './types.ts'

const RAW_MANIFESTS = new Set(['kubernetes_manifest', 'kubectl_manifest'])
const objectOf = (value: Json): JsonObject => (isJsonObject(value) ? value : {})

/** What the plan changes, as rules look at it; leftovers of interrupted replacements are none. */
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

/** The resource as it was before an update. */
export const beforeOf = (subject: Subject): Subject => ({ ...subject, values: subject.before, unknown: undefined })
