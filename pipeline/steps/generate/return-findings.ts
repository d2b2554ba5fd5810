import { endSentence } from '../../../src/base/text.ts'
import { writeAuditQuery } from '../../../src/chains/iac-generator.ts'
import { mainAction } from '../../../src/plan/actions.ts'
import { covers, namesResource, stripBackticks } from '../../../src/plan/addresses.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { addressOf } from '../../../src/plan/planned-changes.ts'
import { blockingFindings } from '../../../src/reports/compliance.ts'
import type { ComplianceReport } from '../../../src/reports/schemas.ts'
import type { RoundResult } from '../../../src/rounds/round-result.ts'
import type { Kit } from '../../kit/kit.ts'
import type { openGeneration } from '../generator/generate-and-validate.ts'
import type { ValidPlan } from '../plan/plan.ts'
import { createPlanValidator } from '../plan/validators.ts'

export type AuditFinding = ComplianceReport['violations'][number]

/**
 * Returns the findings of an auditing model that would lock the session and that its author can mend: about the plan as
 * a whole, or about something that it changes.
 */
export function objectionsTo({ plan }: Pick<ValidPlan, 'plan'>, found: readonly AuditFinding[]): AuditFinding[] {
  const changed = plan.resource_changes.filter((one) => !['none', 'read'].includes(mainAction(one))).map(addressOf)
  return blockingFindings(found).filter(({ resource }) => {
    const named = resource === null ? '' : stripBackticks(resource)
    return named === '' || changed.some((address) => covers(named, address) || namesResource(named, address))
  })
}

/** What became of a plan whose findings went back. */
interface Returned {
  /** The plan that stands now. */
  valid: ValidPlan
  /** True if it does the same as the plan that was reviewed, whose review stands. */
  isSame: boolean
  /** False if the author's change was not taken, so that the reviewed code was put back. */
  isTaken: boolean
}

/** Lets the author of the code answer to findings, once. Errors: those of `Generation.again`. */
export async function returnFindings(
  kit: Kit,
  again: NonNullable<Awaited<ReturnType<typeof openGeneration<ValidPlan>>>['again']>,
  { reviewed, objections }: { reviewed: ValidPlan; objections: readonly AuditFinding[] },
): Promise<Returned> {
  await kit.attempts.review(
    objections.map(({ rule_id, resource, message, suggested_fix }) => ({
      ...{ severity: 'error' as const, summary: message, detail: suggested_fix ?? '' },
      ...{ address: resource, rule: rule_id },
    })),
    'refused',
  )
  const lines = objections.map((one) =>
    `${one.severity} ${nameOf(one)}: ${endSentence(one.message)} ${one.suggested_fix ?? ''}`.trim(),
  )
  const { value, isTaken } = await again({
    prompt: writeAuditQuery(lines.join('\n')),
    reason: `The audit found what would lock the session: ${lines[0]}`,
    validateAgain: createPlanValidator(kit, async () => reviewed.reference.targets),
  })
  return { valid: value, isTaken, isSame: changesOf(value.plan) === changesOf(reviewed.plan) }
}

const changesOf = ({ resource_changes }: Plan): string => JSON.stringify(resource_changes)

const nameOf = ({ rule_id, resource }: AuditFinding): string => `${rule_id}${resource ? ` at ${resource}` : ''}`

/**
 * Says in the result of the round which findings of an earlier audit the present one has no more. One of the same rule
 * or about the same resource counts as the same, since a model words them anew.
 */
export function noteReturned(
  kit: Kit,
  returned: readonly AuditFinding[],
  audit: { report: ComplianceReport } | null,
): void {
  const remaining = blockingFindings(audit?.report.violations ?? [])
  const remains = ({ rule_id, resource }: AuditFinding) =>
    remaining.some((one) => one.rule_id === rule_id || (resource !== null && one.resource === resource))
  tellReturned(kit, returned, (one) => (remains(one) ? 'and remains.' : 'and was mended.'))
}

/** Lets the review of a plan stand that is the same as before, and returns it with the author's answer. */
export function keepReview<Kept>(
  kit: Kit,
  review: Kept,
  { reviewed, objections, isTaken }: { reviewed: RoundResult; objections: readonly AuditFinding[]; isTaken: boolean },
): Kept & { answer?: string } {
  const { result } = kit.run
  const { summary, assumptions, repairs } = result
  Object.assign(result, reviewed, { summary, assumptions, repairs })
  const answer = isTaken ? repairs.at(-1) : undefined
  const became = isTaken ? 'and remains: the plan is the same.' : 'and remains: what was changed was not taken.'
  tellReturned(kit, objections, () => became)
  return { ...review, ...(answer !== undefined && { answer }) }
}

/** Adds a sentence for each finding that went back to the remarks of the round and to its answer. */
function tellReturned(
  { run, secrets }: Kit,
  returned: readonly AuditFinding[],
  became: (one: AuditFinding) => string,
): void {
  const sentences = returned.map((one) =>
    secrets.text(
      `The audit found ${nameOf(one)}: ${endSentence(one.message)} It went back to the author ${became(one)}`,
    ),
  )
  run.result.notes.push(...sentences)
  run.result.repairs.push(...sentences)
}
