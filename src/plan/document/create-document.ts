import { createSlices } from '../../base/slices.ts'
import type { ResourceChange } from '../plan.ts'
import { countResource, emptySummary } from './actions.ts'
import { collectAttachments } from './attached.ts'
import { listAttributes } from './attributes.ts'
import { describeOutside, listDrift, listOutputs } from './brief.ts'
import { findDependencies } from './dependencies/find-dependencies.ts'
import { MAX_DOCUMENT_BYTES } from './limits.ts'
import {
  type DocumentResource,
  PLAN_DOCUMENT_VERSION,
  type PlanDocument,
  type PlanDocumentFacts,
} from './plan-document.ts'
import { describeResource } from './resource.ts'
import { createDisplay, type Display } from './shown.ts'

interface Limits {
  /** Largest document in bytes; resources beyond it have no attributes. */
  max_bytes: number
}

const LIMITS: Limits = { max_bytes: MAX_DOCUMENT_BYTES }

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

/** Creates the document, one step for each resource. */
function* documentSteps(facts: PlanDocumentFacts, { max_bytes }: Limits): Generator<void, PlanDocument> {
  const { plan, targets, masker, findings, statements, beyond } = facts
  const display = createDisplay(masker)
  const attached = collectAttachments(facts, display)
  const isTargeted = createTargetTest(targets)
  const dependenciesOf = findDependencies(plan)
  yield
  const summary = emptySummary()
  const resources: DocumentResource[] = []
  const dependencies: number[][] = []
  const size = { bytes: 0, without: 0 }
  for (const [index, change] of plan.resource_changes.entries()) {
    const { indexes, left_out } = dependenciesOf(index)
    dependencies.push(indexes)
    const resource: DocumentResource = {
      ...describeResource(change, isTargeted(change), display),
      ...listAttributes(change.change, display),
      depends_on: [],
      depends_on_left_out: left_out,
      findings: attached.findingsOf(change.address),
      statements: attached.statementsOf(change.address),
    }
    resources.push(keepWithin(resource, size, max_bytes))
    countResource(summary, resource)
    yield
  }
  for (const [index, indexes] of dependencies.entries())
    resources[index]?.depends_on.push(...indexes.flatMap((one) => resources[one]?.address ?? []))
  yield
  return {
    schema_version: PLAN_DOCUMENT_VERSION,
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

/** The places in an address where a target may end: before an index or after a module name. */
const CUTS = /\[(?:"(?:\\.|[^"\\])*"|\d+)\]|\./g
const MODULE_END = /(?:^|\.)module\.[^.[\]]+(?:\[(?:"(?:\\.|[^"\\])*"|\d+)\])?$/
const MAX_CUTS = 100

/** Creates a test whether a target (address, block or module) names a resource, in time independent of their number. */
export function createTargetTest(targets: readonly string[]): (resource: ResourceChange) => boolean {
  if (targets.length === 0) return () => true
  const named = new Set(targets)
  const isNamed = (address: string): boolean => {
    if (named.has(address)) return true
    let cuts = 0
    for (const { 0: text, index } of address.matchAll(CUTS)) {
      if (++cuts > MAX_CUTS) return false
      const outer = address.slice(0, index)
      if (named.has(outer) && (text !== '.' || MODULE_END.test(outer))) return true
    }
    return false
  }
  return ({ address, previous_address }) =>
    isNamed(address) || (previous_address !== undefined && isNamed(previous_address))
}
