import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, code, inline } from '../markdown.ts'
import { blocks, findLaterChange, formatTime, plural, type Section, section, titledList } from '../section.ts'

/** Most assumptions, targets or resource types that are listed. */
const MAX_LISTED = 20
const FEW_LISTED = 5
const UNKNOWN = /\(known after apply\)/g

/** Lists the generator's assumptions, the basis of the evidence, and what was not checked. */
export function assumptionsSection(evidence: Evidence): Section | null {
  const computed = evidence.generate ? listPlanAssumptions(evidence) : listReadingAssumptions(evidence)
  const assumed = listGeneratorAssumptions(evidence)
  if (assumed.length === 0)
    return computed.length > 0 ? section('Assumptions', bulletList(computed), bulletList(computed.slice(0, 2))) : null
  const form = (most: number, lines: readonly string[]) =>
    blocks(
      titledList('The model that wrote the code assumed, in its own words:', assumed, most),
      titledList('What the evidence is based on:', lines, lines.length),
    )
  return section('Assumptions', form(MAX_LISTED, computed), form(FEW_LISTED, computed.slice(0, 2)))
}

/** Returns the distinct assumptions of completed rounds, latest round first. */
function listGeneratorAssumptions({ rounds }: Evidence): string[] {
  const lines = new Map<string, string>()
  for (const { status, result } of rounds.toReversed()) {
    if (status !== 'completed') continue
    for (const assumption of result?.assumptions ?? []) {
      const line = inline(assumption, 300)
      const key = line.toLowerCase().replace(/[\s.]+$/, '')
      if (line !== '' && !lines.has(key)) lines.set(key, line)
    }
  }
  return [...lines.values()]
}

function listPlanAssumptions(evidence: Evidence): string[] {
  const { generate, plan, session } = evidence
  const commit = generate && !findLaterChange(evidence, generate.round) ? session.last_commit : null
  const plannedAt = plan
    ? 'The engine planned at ' +
      `${formatTime(plan.created_at)}${commit ? ` on commit ${code(commit.slice(0, 12))}` : ''}. What changed ` +
      'since then, in the infrastructure or on the default branch, is not in the plan.'
    : 'When the plan was made is not available.'
  return [
    targetsLine(plan),
    plannedAt,
    unknownLine(plan),
    costLine(generate),
    'A plan does not show whether quotas, permissions and policies of the cloud let it through.',
  ].filter((line) => line !== null)
}

function targetsLine(plan: Evidence['plan']): string {
  if (!plan) return 'Which targets were planned is not available.'
  if (plan.targets.length === 0) return 'The whole root was planned.'
  const targets = capLines(
    plan.targets.map((target) => code(target)),
    MAX_LISTED,
  )
  return (
    `Only ${plural(plan.targets.length, 'target')} and what ` +
    `${plan.targets.length === 1 ? 'it depends' : 'they depend'} on were planned: ${targets.join(', ')}.`
  )
}

function unknownLine(plan: Evidence['plan']): string {
  if (!plan || plan.text === null) return 'Which values are known only after apply is not available.'
  const count = plan.text.match(UNKNOWN)?.length ?? 0
  if (count === 0) return 'The plan names no value that is known only after apply.'
  return (
    `${plural(count, 'value')} of the plan ${count === 1 ? 'is' : 'are'} known only after apply, and nothing ` +
    `could be checked about ${count === 1 ? 'it' : 'them'}.`
  )
}

function costLine(generate: Evidence['generate']): string | null {
  if (!generate?.document) return null
  const open = generate.document.estimated_costs.breakdown.filter(
    ({ pricing_model }) => pricing_model === 'usage_based',
  )
  const types = [...new Set(open.map(({ resource_type }) => code(resource_type)))]
  const without =
    types.length > 0 ? ` What is charged by use is not in it: ${capLines(types, MAX_LISTED).join(', ')}.` : ''
  return `The cost estimate counts fixed monthly prices only.${without}`
}

/** Returns the assumptions of drift and import rounds, which have no reviewed plan. */
function listReadingAssumptions({ drift, import: imported }: Evidence): string[] {
  const lines: string[] = []
  if (drift)
    lines.push(
      `Drift was read in round ${drift.round}, which ended at ${formatTime(drift.created_at)}. What changed ` +
        'since then was not looked at.',
    )
  if (imported)
    lines.push(
      `The import ended at ${formatTime(imported.created_at)}. Resources of the scope that came later were ` +
        'not looked at.',
    )
  if (lines.length > 0) lines.push('No plan was pinned: this session cannot apply anything.')
  return lines
}
