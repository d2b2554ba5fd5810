import * as v from 'valibot'
import { PlatformError } from '../base/errors.ts'
import type { Masker } from '../base/masking.ts'
import { describeResults, INTENT_TITLE, isIntentTitle } from '../intent/describe.ts'
import type { StatementResult } from '../intent/types.ts'
import { stripBackticks, withoutIndexes } from '../plan/addresses.ts'
import { planCounts, plannedChanges } from '../plan/changes.ts'
import { type CriticalChange, criticalChanges, higherImpact, impactFloor } from '../plan/impact.ts'
import type { Plan, PlannedChange } from '../plan/plan.ts'
import { BEYOND_TITLE, type BeyondTargets, describeBeyondTargets, isBeyondTitle } from '../plan/targets.ts'
import { type GenerateReport, generateReport } from './schemas.ts'

type Entry = GenerateReport['detailed_changes'][number]
type Banner = GenerateReport['potential_impact']['banner']
type Point = GenerateReport['potential_impact']['bullet_points'][number]

/**
 * Settles the report that is stored. From code come the counts, the list of changes, the lowest impact level, the
 * changes outside the targets and the check against the request; the prose comes from the model. Entries about what the
 * plan does not change are left out, missing ones are added.
 * @param narration the report as the model wrote it
 * @param beyond null for a plan of the whole root, since nothing can lie outside of that
 * @param checked results of the statements made from the request; without any the report does not mention the check
 * Errors: `ReportGenerationError` `report 'generate' generation error.`
 */
export function settleGenerateReport(
  narration: GenerateReport,
  plan: Plan,
  masker: Masker,
  beyond: BeyondTargets | null = null,
  checked: readonly StatementResult[] = [],
): GenerateReport {
  const impact = narration.potential_impact
  const document = {
    ...narration,
    summary: planCounts(plan),
    detailed_changes: settleChanges(narration.detailed_changes, plannedChanges(plan)),
    potential_impact: {
      ...impact,
      banner: settleBanner(impact.banner, plan),
      bullet_points: settlePoints(impact.bullet_points, beyond, checked),
    },
  }
  const parsed = v.safeParse(generateReport, masker.json(document))
  if (!parsed.success) throw reportGenerationError('generate', new v.ValiError(parsed.issues))
  return parsed.output
}

export const reportGenerationError = (type: string, cause?: unknown) =>
  new PlatformError('ReportGenerationError', 502, `report '${type}' generation error.`, { cause })

const HAPPENS: Record<PlannedChange['action'], string> = {
  create: 'Will be created.',
  update: 'Will be changed in place.',
  delete: 'Will be destroyed.',
  recreate: 'Will be destroyed and created again.',
}

function settleChanges(narrated: readonly Entry[], changes: readonly PlannedChange[]): Entry[] {
  return changes.map(({ address, action }) => {
    const entry = findEntry(narrated, address)
    if (!entry) return { name: address, action, notes: '', summary: HAPPENS[action], details: '' }
    return { ...entry, name: address, action, summary: entry.summary || HAPPENS[action] }
  })
}

/**
 * Finds the model's entry about an address. A model names a resource by its full address, without indexes, by type and
 * name, or by its name alone.
 */
function findEntry(narrated: readonly Entry[], address: string): Entry | undefined {
  const resource = withoutIndexes(address)
  const local = resource.replace(/^(module\.[^.]+\.)+/, '')
  const name = local.split('.').at(-1)
  for (const form of [address, resource, local, name]) {
    const entry = narrated.find((candidate) => stripBackticks(candidate.name) === form)
    if (entry) return entry
  }
  return undefined
}

/** Replaces what the model says about changes outside the targets and about the check by what code knows. */
function settlePoints(
  narrated: readonly Point[],
  beyond: BeyondTargets | null,
  checked: readonly StatementResult[],
): Point[] {
  const points = narrated.filter(({ title }) => !isBeyondTitle(title) && !isIntentTitle(title))
  if (checked.length > 0) points.push({ title: INTENT_TITLE, description: describeResults(checked) })
  if (beyond) points.push({ title: BEYOND_TITLE, description: describeBeyondTargets(beyond) })
  return points
}

const MAX_NAMED = 10

function settleBanner(banner: Banner, plan: Plan): Banner {
  const level = higherImpact(banner.level, impactFloor(plan))
  if (level === banner.level) return banner
  const critical = criticalChanges(plan)
  const changes = critical.slice(0, MAX_NAMED).map(describeChange).join(', ')
  const more = critical.length > MAX_NAMED ? ` and ${critical.length - MAX_NAMED} more` : ''
  return {
    ...banner,
    level,
    description: `${banner.description} Raised to ${level} because of ${changes}${more}.`.trim(),
  }
}

function describeChange({ address, action, criticality }: CriticalChange): string {
  const fate = action === 'delete' ? 'destroyed' : 'replaced'
  return `${address} (${fate}, ${criticality === 'data' ? 'holds data' : 'grants access'})`
}
