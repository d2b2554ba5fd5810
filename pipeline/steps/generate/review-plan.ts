import { waitUnlessAborted } from '../../../src/base/time.ts'
import type { PlanBackground } from '../../../src/chains/shared/plan-background.ts'
import type { BeyondTargets } from '../../../src/plan/targets.ts'
import { storeComplianceCheck } from '../../../src/reports/artifacts.ts'
import { emptyCompliance } from '../../../src/reports/compliance.ts'
import type { ComplianceReport } from '../../../src/reports/schemas.ts'
import type { StatementResult } from '../../../src/rules/intent/statement.ts'
import { readSessionRequests } from '../../../src/sessions/session-requests.ts'
import type { Kit } from '../../kit/kit.ts'
import type { ValidPlan } from '../plan/plan.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import { auditCompliance } from './audit-compliance.ts'
import type { Review } from './decide-lock.ts'
import type { EnvironmentCheck } from './plan-environments.ts'
import { writeGenerateReport } from './write-generate-report.ts'

interface ReviewOptions {
  /** The pending plan of the whole root. */
  beyond: Promise<BeyondTargets | null>
  /** The statements of the request with their results for the plan. */
  checked: readonly StatementResult[]
  conventions: Pick<Conventions, 'templates'>
  /** Plans with the values of other environments; their results become remarks of the round. */
  environments?: Pick<EnvironmentCheck, 'notes'>
}

/**
 * Lets one model write the report while another audits the plan. The report is stored first. The audit waits for the
 * plan of the whole root, which it judges too; the prose of the report does not. A failing report aborts the audit and
 * its error is thrown; a failing audit does not affect the report. The plan of the whole root has always ended
 * afterwards, because its job works in this workspace. Errors: those of `writeGenerateReport` and of `auditCompliance`.
 */
export async function reviewPlan(kit: Kit, valid: ValidPlan, options: ReviewOptions): Promise<Review> {
  const stop = new AbortController()
  try {
    kit.run.result.notes.push(...((await options.environments?.notes()) ?? []))
    const background = await readBackground(kit)
    await kit.status.say('report', 'Infrastructure successfully validated. Generating report')
    const reporting = writeGenerateReport(kit, valid, { ...options, background })
    const auditing = auditBeside(kit, valid, { ...options, background }, stop.signal)
    // Awaited only after the report; until then a failure must not count as unhandled.
    auditing.catch(() => {})
    const report = await reporting.catch(async (error: unknown) => {
      stop.abort()
      await Promise.allSettled([auditing])
      throw error
    })
    return { report, compliance: await keepAudit(kit, await auditing) }
  } finally {
    await Promise.allSettled([options.beyond])
  }
}

/** Returns the masked requests and the result of the round. */
async function readBackground({ run, secrets }: Kit): Promise<PlanBackground> {
  const requests = await readSessionRequests(run.context.sql, run.round)
  return { requests: requests.map((request) => ({ ...request, text: secrets.text(request.text) })), result: run.result }
}

/** Audits the plan; returns null when `orchestration.enable_compliance_checker` is off. */
async function auditBeside(
  kit: Kit,
  valid: ValidPlan,
  { beyond, conventions, background }: ReviewOptions & { background: PlanBackground },
  stop: AbortSignal,
): Promise<ComplianceReport | null> {
  const { run } = kit
  if (!run.context.config.orchestration.enable_compliance_checker) return null
  const signal = AbortSignal.any([run.signal, stop])
  const whole = { ...valid, beyond: await beyond }
  signal.throwIfAborted()
  // Some clients ignore their signal, and an aborted audit must not delay the round.
  return await waitUnlessAborted(auditCompliance(kit, whole, { background, conventions, signal }), signal)
}

/** Stores and returns an audit. Without one nothing is stored, and an empty passing result is returned. */
async function keepAudit({ run }: Kit, audit: ComplianceReport | null): Promise<ComplianceReport> {
  if (audit === null) return emptyCompliance()
  await storeComplianceCheck(run.context, run.round, audit, run.signal)
  return audit
}
