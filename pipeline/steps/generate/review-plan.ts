import { cutEnd, joinNames } from '../../../src/base/text.ts'
import { waitUnlessAborted } from '../../../src/base/time.ts'
import { complianceChecker } from '../../../src/chains/compliance-checker.ts'
import { writeRulesQuery } from '../../../src/chains/iac-generator.ts'
import { generateReportWriter } from '../../../src/chains/report-writers.ts'
import { foreignToCloud } from '../../../src/chains/shared/catalogue.ts'
import { describePlan, type PlanBackground } from '../../../src/chains/shared/plan-background.ts'
import { listChanges } from '../../../src/plan/change-list.ts'
import { findChangedBlocks } from '../../../src/plan/code/compare.ts'
import { describeFailedChecks } from '../../../src/plan/failed-checks.ts'
import { changedTypes, changesNothing, losesNothing } from '../../../src/plan/planned-changes.ts'
import type { BeyondTargets } from '../../../src/plan/targets.ts'
import { storeComplianceCheck, storeReport } from '../../../src/reports/artifacts.ts'
import {
  blockingFindings,
  complianceVerdict,
  emptyCompliance,
  mergeFindings,
  ofEmptyPlan,
} from '../../../src/reports/compliance.ts'
import {
  type ComplianceFindings,
  type ComplianceReport,
  complianceFindings,
  finishReport,
  type GenerateReport,
} from '../../../src/reports/schemas.ts'
import { settleGenerateReport } from '../../../src/reports/settle-generate.ts'
import { type ReviewReason, recordLockDecision } from '../../../src/rounds/transitions.ts'
import { findAdditions } from '../../../src/rules/intent/additions.ts'
import { withVerdict } from '../../../src/rules/intent/describe.ts'
import type { StatementResult } from '../../../src/rules/intent/statement.ts'
import type { CodeFindings, Finding as RuleFinding } from '../../../src/rules/rule.ts'
import { readSessionRequests } from '../../../src/sessions/session-requests.ts'
import type { Finding } from '../../kit/attempts.ts'
import { type Kit, notify } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { runChain } from '../../kit/run-chain.ts'
import { checkRules } from '../plan/check-rules.ts'
import type { ValidPlan } from '../plan/plan.ts'
import type { PlanCheck } from '../plan/validators.ts'
import { type Conventions, templatesFor } from '../shared/compose-prompts.ts'
import type { Unasked } from './find-unasked.ts'
import type { EnvironmentCheck } from './plan-environments.ts'
import { type AuditFinding, noteReturned, objectionsTo } from './return-findings.ts'

interface ReviewOptions {
  /** The pending plan of the whole root. */
  beyond: Promise<BeyondTargets | null>
  /** The statements of the request with their results for the plan. */
  checked: readonly StatementResult[]
  conventions: Pick<Conventions, 'templates' | 'templateNames'>
  /** What the plan does although the request does not ask for it. */
  unasked?: Pick<Unasked, 'losses' | 'isKnown'>
  /** Plans with the values of other environments; their results become remarks of the round. */
  environments?: Pick<EnvironmentCheck, 'notes'>
  /** Begins, beside the report, once nothing else works in the workspace. */
  beside?: () => Promise<unknown>
  /** What the audit of an earlier plan of the round found and the author was asked to mend. */
  returned?: readonly AuditFinding[]
}

/** A finished audit. */
interface Audit {
  report: ComplianceReport
  objections: AuditFinding[]
}

type ReviewInput = ReviewOptions & { background: PlanBackground }

/**
 * Lets one model write the report while another audits the plan. The report is stored first. The audit waits for the
 * plan of the whole root, which it judges too; the prose of the report does not. A failing report aborts the audit and
 * its error is thrown; a failing audit does not affect the report. The plan of the whole root and what runs beside the
 * report have always ended afterwards, because they work in this workspace. Errors: those of `writeGenerateReport` and of
 * `auditCompliance`.
 */
export async function reviewPlan(
  kit: Kit,
  valid: ValidPlan,
  options: ReviewOptions,
): Promise<Review & { objections: AuditFinding[] }> {
  const { returned = [] } = options
  const stop = new AbortController()
  let beside: Promise<unknown> = Promise.resolve()
  try {
    kit.run.result.notes.push(...((await options.environments?.notes()) ?? []))
    kit.run.result.notes.push(...describeFailedChecks(valid.plan).map((sentence) => kit.secrets.text(sentence)))
    tellForeignProviders(kit, valid)
    const background = await readBackground(kit)
    await kit.status.show('report', 'Infrastructure successfully validated. Generating report')
    const audit = () => auditBeside(kit, valid, { ...options, background }, stop.signal)
    // After an earlier audit it comes first, so that the report says what became of the findings.
    const early = returned.length > 0 ? { audit: await audit() } : null
    if (early) noteReturned(kit, returned, early.audit)
    beside = options.beyond.then(() => options.beside?.())
    // Awaited at the end; until then a failure must not count as unhandled.
    beside.catch(() => {})
    const reporting = writeGenerateReport(kit, valid, { ...options, background })
    const auditing = early ? Promise.resolve(early.audit) : audit()
    // Awaited only after the report; until then a failure must not count as unhandled.
    auditing.catch(() => {})
    const report = await reporting.catch(async (error: unknown) => {
      stop.abort()
      await Promise.allSettled([auditing])
      throw error
    })
    const audited = await auditing
    return { report, compliance: await keepAudit(kit, audited?.report ?? null), objections: audited?.objections ?? [] }
  } finally {
    await Promise.allSettled([options.beyond, beside])
  }
}

/** Tells which rules do not apply to a plan that has nothing of the cloud of the session. */
function tellForeignProviders({ run }: Kit, { plan }: ValidPlan): void {
  const cloud = run.round.session.provider
  const names = foreignToCloud(changedTypes(plan), cloud)
  if (names.length > 0)
    run.result.notes.push(
      `The plan is about ${joinNames(names, 8)} and has nothing of ${cloud}, the cloud of this session: no compliance ` +
        `rule of code for ${cloud} applies to it, but those for every cloud and for its own types do.`,
    )
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
  { beyond, ...input }: ReviewInput,
  stop: AbortSignal,
): Promise<Audit | null> {
  const { run } = kit
  if (!run.context.config.orchestration.enable_compliance_checker) return null
  const signal = AbortSignal.any([run.signal, stop])
  const whole = { ...valid, beyond: await beyond }
  signal.throwIfAborted()
  // Some clients ignore their signal, and an aborted audit must not delay the round.
  return await waitUnlessAborted(auditCompliance(kit, whole, input, signal), signal)
}

/** Stores and returns an audit. Without one nothing is stored, and an empty passing result is returned. */
async function keepAudit({ run }: Kit, audit: ComplianceReport | null): Promise<ComplianceReport> {
  if (audit === null) return emptyCompliance()
  await storeComplianceCheck(run.context, run.round, audit, run.signal)
  return audit
}

/**
 * Lets a model write the prose of the report on a plan, and stores it. Counts, changes, minimum impact, costs, changes
 * outside of the targets and other known facts come from code. Errors: those of `runAgent` and of the object store;
 * `ReportGenerationError`; those of `beyond`.
 */
async function writeGenerateReport(kit: Kit, valid: ValidPlan, { background, beyond, checked }: ReviewInput) {
  const { run, secrets } = kit
  const plan = describePlan(valid, secrets)
  const narration = await runChain(kit, generateReportWriter, { ...background, plan })
  const { result } = background
  const statements = checked.map(({ statement }) => statement)
  const additions = findAdditions(statements, valid.plan, await readWrittenBlocks(kit))
  const known = { beyond: await beyond, checked, additions, result }
  const document = settleGenerateReport(narration, valid.plan, secrets, known)
  await storeReport(run.context, run.round, { type: 'generate', document }, run.signal)
  return document
}

/** Returns a test for the blocks of resources that this run added; none when that cannot be read. */
async function readWrittenBlocks({ run }: Kit): Promise<(type: string, name: string) => boolean> {
  const versions = await withFallback(run, 'the additions of the round are not known', [], () =>
    run.workspace.versions('run'),
  )
  const added = findChangedBlocks(versions).filter(({ kind, before }) => kind === 'resource' && before === null)
  const written = new Set(added.map(({ labels }) => labels.join('.')))
  return (type, name) => written.has(`${type}.${name}`)
}

/** What a model would say of a plan that changes nothing. */
const NOTHING_JUDGED: ComplianceFindings = { violations: [], summary: '', checked_rules: [] }

/**
 * Checks the plan with rules and a model, whose blocking findings are objections. No model is asked about a plan that
 * changes nothing, unless the request states what it does not do. Errors: those of `runAgent`.
 */
async function auditCompliance(
  kit: Kit,
  valid: ValidPlan,
  { background, checked, conventions, unasked }: Omit<ReviewInput, 'beyond'>,
  signal: AbortSignal,
): Promise<Audit> {
  const { run, secrets } = kit
  // What the request asks for is not known without statements: then the report says so, and nothing is locked.
  const losses = unasked?.isKnown ? unasked.losses.map(({ address }) => address) : []
  const code = await checkRules(kit, valid, losses)
  for (const { rule_id, severity, resource } of code.findings.slice(0, MAX_SHOWN))
    run.eventLog.activity({ type: 'rule.found', rule: rule_id, severity, address: resource ?? null })
  await kit.attempts.review(code.findings.map(toFinding))
  const types = changedTypes(valid.plan)
  const judge = () =>
    runChain(
      kit,
      complianceChecker,
      {
        ...background,
        plan: describePlan(valid, secrets),
        types,
        losesNothing: losesNothing(valid.plan),
        concernsCloud: foreignToCloud(types, run.round.session.provider).length === 0,
        codeFindings: secrets.text(listFindings(code)),
        templates: templatesFor(conventions, types),
      },
      { signal },
    )
  const isClear = changesNothing(valid.plan) && withVerdict(checked, 'unmet').length === 0
  const findings = isClear ? NOTHING_JUDGED : await judge()
  const merged = mergeFindings(code, findings)
  const told = listChanges(valid.plan, secrets).total === 0 ? ofEmptyPlan(merged) : merged
  const report = complianceVerdict(finishReport('compliance', complianceFindings, told, secrets))
  return { report, objections: objectionsTo(valid, report.violations.slice(code.findings.length)) }
}

/** The name of the check, as attempts are compared by it. */
const NO_BLOCKING_FINDING = 'No rule finds what locks the session'

/**
 * Creates the check of a loop that rejects a plan once for what rules of code would lock the session for, since a
 * locked session cannot mend itself. Without the audit nothing locks, so that nothing is checked.
 */
export const createRuleCheck = (kit: Kit): PlanCheck => ({
  most: 1,
  writeQuery: writeRulesQuery,
  check: async (valid) => {
    const { run, secrets } = kit
    const { enable_compliance_checker } = run.context.config.orchestration
    if (!enable_compliance_checker) return { findings: [], feedback: '', verdicts: new Map() }
    const code = await checkRules(kit, valid)
    const blocking = blockingFindings(code.findings)
    return {
      findings: blocking.map(toFinding),
      feedback: secrets.text(listFindings({ findings: blocking }, ({ suggested_fix }) => suggested_fix)),
      verdicts: new Map([[NO_BLOCKING_FINDING, blocking.length === 0]]),
    }
  },
})

const toFinding = ({ rule_id, severity, resource, message, suggested_fix }: RuleFinding): Finding => ({
  severity: severity === 'error' || severity === 'critical' ? 'error' : 'warning',
  summary: message,
  detail: suggested_fix ?? '',
  address: resource,
  rule: rule_id,
})

/** Maximum findings of code that the model is shown so that it does not repeat them; the report has all of them. */
const MAX_SHOWN = 200

function listFindings(
  { findings }: Pick<CodeFindings, 'findings'>,
  adviceOf: (finding: RuleFinding) => string | null = () => null,
): string {
  const lines = findings.map((finding) => {
    const { rule_id, severity, resource, message } = finding
    return [`${severity} ${rule_id} ${resource ?? ''}: ${message}`, adviceOf(finding)].filter(Boolean).join(' ')
  })
  return [
    ...lines.slice(0, MAX_SHOWN),
    ...(lines.length > MAX_SHOWN ? [`and ${lines.length - MAX_SHOWN} more`] : []),
  ].join('\n')
}

/** Input of the two gates, compliance and impact. */
export interface Review {
  report: GenerateReport
  compliance: ComplianceReport
  /** What the author said to findings that went back and that the code still has; masked. */
  answer?: string
}

/** Returns true to lock, false to unlock (only after a passed audit, below high impact), null for no change. */
export function lockDecision({ report, compliance }: Review, blockOnHighImpact: boolean): boolean | null {
  const high = report.potential_impact.banner.level === 'high'
  if (!compliance.passed || (high && blockOnHighImpact)) return true
  return high ? null : false
}

/** Maximum findings, and maximum characters, of a reason of a lock. */
const MAX_REASONS = { findings: 5, characters: 500 }

/** Says by which gates a review locks a session, and for what; masked like its documents. */
function lockReasons({ report, compliance, answer }: Review, blockOnHighImpact: boolean): ReviewReason[] {
  const { level, title, description } = report.potential_impact.banner
  const found = blockingFindings(compliance.violations).map(
    ({ rule_id, resource, message }) => `${rule_id}${resource ? ` at ${resource}` : ''}: ${message}`,
  )
  const more = found.length - MAX_REASONS.findings
  const words = answer === undefined ? [] : [answer]
  const shown = [...found.slice(0, MAX_REASONS.findings), ...(more > 0 ? [`and ${more} more`] : []), ...words].join(' ')
  const reasons: ReviewReason[] = [
    ...(compliance.passed ? [] : [{ gate: 'compliance', what: shown } as const]),
    ...(level === 'high' && blockOnHighImpact
      ? [{ gate: 'impact', what: [title, description].filter(Boolean).join(': ') } as const]
      : []),
  ]
  return reasons.map(({ gate, what }) => ({ gate, what: cutEnd(what, MAX_REASONS.characters) }))
}

/**
 * Writes the decision and notifies about each gate that locked.
 * @throws `SetLockError` `Error updating DB session lock.`; `LeaseLost`
 */
export async function decideLock(kit: Kit, review: Review): Promise<void> {
  const { context, round } = kit.run
  const { block_on_high_impact } = context.config.orchestration
  const decision = lockDecision(review, block_on_high_impact)
  const reasons = decision ? lockReasons(review, block_on_high_impact) : []
  if (decision !== null) await recordLockDecision(context.sql, round, decision, reasons)
  const { banner } = review.report.potential_impact
  const impact = [banner.title, banner.description].filter(Boolean).join('\n\n')
  await Promise.all([
    !review.compliance.passed && notify(kit, 'iac.compliance.failed', review.compliance.summary),
    banner.level === 'high' && block_on_high_impact && notify(kit, 'iac.impact.high', impact),
  ])
}
