import { createSlices } from '../../base/slices.ts'
import { isTargeted } from '../targets.ts'
import { describeOutside, listDrift, listOutputs } from './brief.ts'
import { findDependencies } from './dependencies.ts'
import type { DocumentFinding, DocumentResource, PlanDocument, PlanDocumentFacts } from './plan-document.ts'
import { describeResource, listAttributes } from './resource.ts'
import { createDisplay, type Display } from './shown.ts'

/** Largest document in bytes, as far as attributes contribute to it; resources beyond it have no attributes. */
const LIMITS = { max_bytes: 32 * 1024 * 1024 }

/** Describes any parsed plan as data, in linear time. All texts are masked, sensitive values as a whole. */
export function createPlanDocument(facts: PlanDocumentFacts, limits = LIMITS): PlanDocument {
  const steps = documentSteps(facts, limits)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Returns the document as JSON text, written in slices to keep the event loop free. Errors: the signal's reason. */
export async function writePlanDocument(
  facts: PlanDocumentFacts,
  signal?: AbortSignal,
  limits = LIMITS,
): Promise<string> {
  const slices = createSlices(signal)
  const steps = documentSteps(facts, limits)
  for (;;) {
    const step = steps.next()
    if (step.done) return await joinDocument(step.value, slices)
    if (slices.due()) await slices.pause()
  }
}

/** Serialises resources one by one, because they are nearly all of a document. */
async function joinDocument(document: PlanDocument, slices: ReturnType<typeof createSlices>): Promise<string> {
  const texts: string[] = []
  for (const resource of document.resources) {
    texts.push(JSON.stringify(resource))
    if (slices.due()) await slices.pause()
  }
  const { resources: _, ...rest } = document
  return `${JSON.stringify(rest).slice(0, -1)},"resources":[${texts.join(',')}]}`
}

const NO_RESOURCES = { create: 0, update: 0, replace: 0, delete: 0, read: 0, import: 0, move: 0, forget: 0, none: 0 }

/** Creates the document, one step for each resource. */
function* documentSteps(facts: PlanDocumentFacts, { max_bytes }: typeof LIMITS): Generator<void, PlanDocument> {
  const { plan, targets, masker, findings, statements, beyond } = facts
  const display = createDisplay(masker)
  const attached = collectAttachments(facts, display)
  const dependenciesOf = findDependencies(plan)
  yield
  const summary = { ...NO_RESOURCES }
  const resources: DocumentResource[] = []
  const dependencies: number[][] = []
  const size = { bytes: 0, without: 0 }
  for (const [index, change] of plan.resource_changes.entries()) {
    const { indexes, left_out } = dependenciesOf(index)
    dependencies.push(indexes)
    const resource: DocumentResource = {
      ...describeResource(change, targets.length === 0 || isTargeted(change, targets), display),
      ...listAttributes(change.change, display),
      depends_on: [],
      depends_on_left_out: left_out,
      findings: attached.findingsOf(change.address),
      statements: attached.statementsOf(change.address),
    }
    resources.push(keepWithin(resource, size, max_bytes))
    const { action, import: imported, moved_from } = resource
    if (action !== 'import' && action !== 'move') summary[action]++
    if (imported !== null) summary.import++
    if (moved_from !== null) summary.move++
    yield
  }
  for (const [index, indexes] of dependencies.entries())
    resources[index]?.depends_on.push(...indexes.flatMap((one) => resources[one]?.address ?? []))
  yield
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
