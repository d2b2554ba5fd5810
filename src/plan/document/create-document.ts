import { isJsonObject, itemsOf, type Json, type JsonObject, memberOf } from '../../base/json.ts'
import { createSlices, finish, inSlices } from '../../base/slices.ts'
import type { Change, Plan } from '../plan.ts'
import { type BeyondTargets, isTargeted } from '../targets.ts'
import { hasMark } from '../value-marks.ts'
import { findDependencies } from './dependencies.ts'
import { clipDepth, compareChange } from './differences.ts'
import type {
  DocumentDrift,
  DocumentFinding,
  DocumentOutput,
  DocumentOutside,
  DocumentPath,
  DocumentResource,
  PlanDocument,
  PlanDocumentFacts,
} from './plan-document.ts'
import { describeResource, listAttributes, shownAddress, showSides } from './resource.ts'
import { createDisplay, type Display } from './shown.ts'

/** Largest document in bytes, as far as attributes contribute to it; resources beyond it have no attributes. */
const LIMITS = { max_bytes: 32 * 1024 * 1024 }

/** Describes any parsed plan as data, in linear time. All texts are masked, sensitive values as a whole. */
export const createPlanDocument = (facts: PlanDocumentFacts, limits = LIMITS): PlanDocument =>
  finish(documentSteps(facts, limits, (resource) => resource))

/** Returns the document as JSON text, written in slices to keep the event loop free. Errors: the signal's reason. */
export async function writePlanDocument(
  facts: PlanDocumentFacts,
  signal?: AbortSignal,
  limits = LIMITS,
): Promise<string> {
  // Resources are nearly all of a document: each becomes a text at once, which takes less memory than its values.
  const steps = documentSteps(facts, limits, (resource) => JSON.stringify(resource))
  const { resources, ...rest } = await inSlices(steps, createSlices(signal))
  return `${JSON.stringify(rest).slice(0, -1)},"resources":[${resources.join(',')}]}`
}

const NO_RESOURCES = { create: 0, update: 0, replace: 0, delete: 0, read: 0, import: 0, move: 0, forget: 0, none: 0 }

/**
 * Creates the document, one step for each resource.
 * @param keep makes of a finished resource what the document holds
 */
function* documentSteps<Kept>(
  facts: PlanDocumentFacts,
  { max_bytes }: typeof LIMITS,
  keep: (resource: DocumentResource) => Kept,
): Generator<void, Omit<PlanDocument, 'resources'> & { resources: Kept[] }> {
  const { plan, targets, masker, findings, statements, beyond } = facts
  const display = createDisplay(masker)
  const attached = collectAttachments(facts, display)
  const dependenciesOf = findDependencies(plan)
  yield
  const summary = { ...NO_RESOURCES }
  const resources: Kept[] = []
  const size = { bytes: 0, without: 0 }
  for (const [index, change] of plan.resource_changes.entries()) {
    const { indexes, left_out } = dependenciesOf(index)
    const resource: DocumentResource = {
      ...describeResource(change, targets.length === 0 || isTargeted(change, targets), display),
      ...listAttributes(change.change, display),
      depends_on: indexes.flatMap((one) => plan.resource_changes[one] ?? []).map((one) => shownAddress(one, display)),
      depends_on_left_out: left_out,
      findings: attached.findingsOf(change.address),
      statements: attached.statementsOf(change.address),
    }
    resources.push(keep(keepWithin(resource, size, max_bytes)))
    const { action, import: imported, moved_from } = resource
    if (action !== 'import' && action !== 'move') summary[action]++
    if (imported !== null) summary.import++
    if (moved_from !== null) summary.move++
    yield
  }
  return {
    schema_version: 1,
    engine: describeEngine(facts, display),
    targets: targets.map((target) => display.text(target)),
    checked: {
      rules: findings !== undefined,
      request: statements !== undefined,
      outside_targets: targets.length === 0 || beyond !== undefined,
    },
    summary,
    resources,
    outputs: listOutputs(plan, display),
    ...listDrift(plan, display),
    findings: attached.findings(),
    statements: attached.statements,
    outside_targets: describeOutside(beyond, display),
    resources_without_attributes: size.without,
  }
}

/** Drops the attributes of a resource that would exceed the size limit. */
function keepWithin(
  resource: DocumentResource,
  size: { bytes: number; without: number },
  maxBytes: number,
): DocumentResource {
  const { attributes } = resource
  if (attributes.length === 0) return resource
  const bytes = size.bytes >= maxBytes ? 0 : new TextEncoder().encode(JSON.stringify(attributes)).length
  size.bytes += bytes
  if (bytes > 0 && size.bytes <= maxBytes) return resource
  size.bytes = maxBytes
  size.without++
  return { ...resource, attributes: [], attributes_left_out: resource.attributes_left_out + attributes.length }
}

/** Returns the engine: its version comes from the plan, its name from the iac service. */
function describeEngine({ plan, engine }: PlanDocumentFacts, display: Display): PlanDocument['engine'] {
  const { terraform_version: version } = plan.document
  return {
    name: engine ? display.text(engine.name) : null,
    version: engine ? display.text(engine.version) : typeof version === 'string' ? display.text(version) : null,
  }
}

/** Groups findings and statements by address; each finding is returned once, those about no resource at the end. */
function collectAttachments({ findings = [], statements = [] }: PlanDocumentFacts, display: Display) {
  const byAddress = Map.groupBy(findings, ({ resource }) => resource)
  const named = statements.flatMap(({ id, addresses }) =>
    [...new Set(addresses)].map((address) => ({ address, id: display.text(id) })),
  )
  const ids = Map.groupBy(named, ({ address }) => address)
  const show = ({ rule_id, severity, message, suggested_fix }: DocumentFinding) => ({
    rule_id,
    severity,
    message: display.text(message),
    suggested_fix: suggested_fix === null ? null : display.text(suggested_fix),
  })
  return {
    findingsOf: (address: string) => {
      const found = byAddress.get(address) ?? []
      byAddress.delete(address)
      return found.map(show)
    },
    statementsOf: (address: string) => (ids.get(address) ?? []).map(({ id }) => id),
    findings: () =>
      [...byAddress.values()].flat().map((finding) => ({
        ...show(finding),
        resource: finding.resource === null ? null : display.text(finding.resource),
      })),
    statements: statements.map(({ id, text, verdict, finding }) => ({
      id: display.text(id),
      text: display.text(text),
      verdict,
      finding: display.text(finding),
    })),
  }
}

/** Most entries of a list. */
const MAX_BRIEF = 1_000
const MAX_DRIFT_PATHS = 20

/** Lists the changed outputs of the root module, in the plan's order. */
function listOutputs({ document }: Plan, display: Display): DocumentOutput[] {
  const { output_changes: changes } = document
  if (!isJsonObject(changes)) return []
  return Object.entries(changes).flatMap(([name, change]) => toOutput(name, change, display) ?? [])
}

function toOutput(name: string, entry: Json, display: Display): DocumentOutput | null {
  const actions = itemsOf(memberOf(entry, 'actions'))
  const action = (['create', 'update', 'delete'] as const).find((one) => actions.includes(one))
  if (!isJsonObject(entry) || action === undefined) return null
  const change = readChange(entry)
  const part = (value: Json, sensitive: Json) => ({
    value: clipDepth(value, null).value,
    sensitive: clipDepth(sensitive, true).value,
    unknown: undefined,
  })
  const sides = {
    before: part(change.before, change.before_sensitive),
    after: part(change.after, change.after_sensitive),
    isSensitive: change.before_sensitive === true || change.after_sensitive === true,
  }
  return {
    name: display.text(name),
    action,
    ...showSides(sides, display),
    ...(change.after_unknown === true && { after: null }),
    ...(hasMark(change.after_unknown) && { unknown: true as const }),
  }
}

/** Lists objects that were changed or deleted outside the engine, with the attributes concerned. */
function listDrift({ document }: Plan, display: Display): { drift: DocumentDrift[]; drift_left_out: number } {
  const entries = itemsOf(document.resource_drift)
  const drift = entries.slice(0, MAX_BRIEF).flatMap((entry) => toDrift(entry, display) ?? [])
  return { drift, drift_left_out: Math.max(0, entries.length - MAX_BRIEF) }
}

function toDrift(entry: Json, display: Display): DocumentDrift | null {
  const address = memberOf(entry, 'address')
  const change = memberOf(entry, 'change')
  if (typeof address !== 'string' || !isJsonObject(change)) return null
  const action = (['delete', 'update'] as const).find((one) => itemsOf(change.actions).includes(one))
  if (action === undefined) return null
  const paths: DocumentPath[] = []
  let leftOut = 0
  if (action === 'update')
    compareChange(readChange(change), {
      differs: ({ path }) => {
        if (paths.length < MAX_DRIFT_PATHS) paths.push(display.path(path))
        else leftOut++
      },
      same: () => {},
    })
  return { address: display.text(address), action, paths, paths_left_out: leftOut }
}

/** Reads a change from a part of the plan that no schema has checked. */
const readChange = (entry: JsonObject): Change => ({
  actions: [],
  before: entry.before ?? null,
  after: entry.after ?? null,
  after_unknown: entry.after_unknown ?? null,
  before_sensitive: entry.before_sensitive ?? null,
  after_sensitive: entry.after_sensitive ?? null,
})

/** Describes what a plan of the whole root would do beyond this one. */
function describeOutside(beyond: BeyondTargets | null | undefined, display: Display): DocumentOutside | null {
  if (!beyond) return null
  if (!beyond.made) return { made: false, reason: display.text(beyond.reason) }
  const changes = beyond.changes.slice(0, MAX_BRIEF).map(({ address, type, action, previous_address }) => ({
    address: display.text(address),
    type: display.text(type),
    action,
    ...(previous_address !== undefined && { moved_from: display.text(previous_address) }),
  }))
  return { made: true, changes, changes_left_out: beyond.changes.length - changes.length }
}
