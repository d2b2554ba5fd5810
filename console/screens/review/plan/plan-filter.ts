import type { Action, Finding, PlanDocument, PlannedResource, Round } from '../../../client/api/client.ts'
import { isLoss, searchable } from '../../../ui/plan/values.ts'

/** The filter of the listed resources, as in the address. */
export interface Filter {
  /** The actions; empty for all except resources without changes. */
  actions: readonly Action[]
  search: string
  critical: boolean
  findings: boolean
  outside: boolean
  /** The address of a module, whose nested modules count as well; empty for the root module alone, null for all. */
  module: string | null
}

/** Deletions first, so that a reader of the beginning has seen what cannot be undone. */
export const ORDER = ['delete', 'replace', 'forget', 'update', 'create', 'import', 'move', 'read', 'none'] as const
export const SEVERITIES = ['critical', 'error', 'warning', 'info'] as const

const isAction = (text: string): text is Action => (ORDER as readonly string[]).includes(text)

/** Reads the search parameters of the address; invalid ones are ignored. */
export function readFilter(search: Record<string, unknown>): Filter {
  const isSet = (name: string) => asText(search[name]) === 'true'
  return {
    actions: asText(search.action).split(',').filter(isAction),
    search: asText(search.search),
    critical: isSet('critical'),
    findings: isSet('findings'),
    outside: isSet('outside'),
    module: search.module === undefined ? null : asText(search.module),
  }
}

/** Returns a search parameter as text: the router reads `1` as a number, and some addresses as JSON. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

/** Returns the search parameters of a filter. */
export const writeFilter = (filter: Filter): Record<string, unknown> => ({
  action: filter.actions.join(',') || undefined,
  search: filter.search || undefined,
  critical: filter.critical || undefined,
  findings: filter.findings || undefined,
  outside: filter.outside || undefined,
  module: filter.module ?? undefined,
})

export const isFiltered = (filter: Filter): boolean =>
  Object.values(writeFilter(filter)).some((value) => value !== undefined)

/** Returns true for the action of a resource. A change with an import or a move counts for both. */
export const hasAction = (resource: PlannedResource, action: Action): boolean =>
  resource.action === action ||
  (action === 'import' && resource.import !== null) ||
  (action === 'move' && resource.moved_from !== null)

export const worstOf = (findings: readonly { severity: Finding['severity'] }[]): Finding['severity'] | null =>
  SEVERITIES.find((severity) => findings.some((finding) => finding.severity === severity)) ?? null

/** Sorts losses first, then critical resources, then those with findings. */
export function sortResources(resources: readonly PlannedResource[]): PlannedResource[] {
  const weight = (resource: PlannedResource): number => {
    const worst = worstOf(resource.findings)
    const found = worst === null ? SEVERITIES.length : SEVERITIES.indexOf(worst)
    return (
      (isLoss(resource) ? 0 : 1_000) + (resource.is_critical ? 0 : 100) + found * 10 + ORDER.indexOf(resource.action)
    )
  }
  return resources
    .map((resource) => ({ resource, weight: weight(resource) }))
    .sort((a, b) => a.weight - b.weight)
    .map(({ resource }) => resource)
}

/** Returns the resources that match a filter. When a plan has no changes at all, unchanged resources are included. */
export function filterResources(resources: readonly PlannedResource[], filter: Filter): PlannedResource[] {
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean)
  const isQuiet = resources.every(({ action }) => action === 'none')
  return resources.filter((resource) => {
    if (filter.actions.length > 0) {
      if (!filter.actions.some((action) => hasAction(resource, action))) return false
    } else if (resource.action === 'none' && !isQuiet && words.length === 0) return false
    if (filter.critical && !resource.is_critical) return false
    if (filter.findings && resource.findings.length === 0) return false
    if (filter.outside && resource.is_targeted) return false
    if (filter.module !== null && !isInModule(resource, filter.module)) return false
    return words.every((word) => contains(resource, word))
  })
}

const isInModule = ({ module_address }: PlannedResource, module: string): boolean =>
  module === '' ? module_address === null : module_address === module || !!module_address?.startsWith(`${module}.`)

const contains = (resource: PlannedResource, word: string): boolean =>
  resource.address.toLowerCase().includes(word) ||
  resource.type.toLowerCase().includes(word) ||
  resource.attributes.some(
    (attribute) =>
      attribute.path.join('.').toLowerCase().includes(word) ||
      (word.length > 1 && searchable(attribute).includes(word)),
  )

/** Returns the modules of resources in alphabetical order. */
export const modulesOf = (resources: readonly PlannedResource[]): string[] =>
  [...new Set(resources.flatMap(({ module_address }) => module_address ?? []))].sort()

/** Returns the number of findings by severity, of resources and the whole plan, the worst first. */
export function countFindings(document: PlanDocument): [severity: Finding['severity'], count: number][] {
  const all = [...document.findings, ...document.resources.flatMap(({ findings }) => findings)]
  return SEVERITIES.map((severity): [Finding['severity'], number] => [
    severity,
    all.filter((finding) => finding.severity === severity).length,
  ]).filter(([, count]) => count > 0)
}

/** Returns names of findings for addresses: the rule, with a number from its second finding on. */
export function findingNames(findings: readonly { rule_id: string }[]): string[] {
  const seen = new Map<string, number>()
  return findings.map(({ rule_id }) => {
    const count = (seen.get(rule_id) ?? 0) + 1
    seen.set(rule_id, count)
    return count === 1 ? rule_id : `${rule_id}~${count}`
  })
}

export type RoundPlan = Round['plans'][number]

/** Returns the readable plans of a round and the one to show: the one that the address names, otherwise the last. */
export function choosePlan(round: Round, id: unknown): { plan: RoundPlan | null; plans: RoundPlan[] } {
  const plans = round.plans.filter(({ document_url }) => document_url !== null)
  return { plan: plans.find((plan) => plan.id === Number(id)) ?? plans.at(-1) ?? null, plans }
}

/** Returns true for a plan document of a known version. */
export function isPlanDocument(value: unknown): value is PlanDocument {
  const document = value as Partial<PlanDocument> | null | undefined
  return document?.schema_version === 1 && Array.isArray(document.resources) && typeof document.summary === 'object'
}
