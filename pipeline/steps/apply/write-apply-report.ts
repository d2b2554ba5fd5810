import { LeaseLost } from '../../../src/base/errors.ts'
import { applyReportWriter, describeApply } from '../../../src/chains/report-writers.ts'
import type { PlannedChange } from '../../../src/plan/actions.ts'
import { applyFacts } from '../../../src/reports/apply-facts.ts'
import { storeReport } from '../../../src/reports/artifacts.ts'
import type { ApplyReport } from '../../../src/reports/schemas.ts'
import { settleApplyReport } from '../../../src/reports/settle-apply.ts'
import type { ApplyResult } from '../../../src/rounds/applies.ts'
import { cancelledMessage } from '../../../src/rounds/finish.ts'
import { cancelledBy } from '../../kit/cancellation.ts'
import { type BareKit, notify } from '../../kit/kit.ts'
import type { BareRun } from '../../kit/run.ts'
import { runChain } from '../../kit/run-chain.ts'

/**
 * Writes and stores the report on an apply, adds a turn to the conversation, and notifies unless all went well.
 * Failures of model or object store do not fail the round, because the apply took place. Errors: `LeaseLost`; the
 * reason of the run's signal.
 * @param options.fails true if the round is going to fail: the report has no prose, and a notification is sent only if
 * the engine ran, because the end of the round sends one
 */
export async function writeApplyReport(
  kit: BareKit,
  result: ApplyResult,
  planned: readonly PlannedChange[],
  options: { fails: boolean } = { fails: false },
): Promise<void> {
  const { run, secrets } = kit
  const { context, round } = run
  const facts = applyFacts(result, planned)
  const narration = options.fails ? null : await narrate(kit, result, facts)
  const document = settleApplyReport(narration, sayWhoCancelled(run, result, facts), secrets)
  await continueOnFailure(kit, 'the report of an apply could not be stored', () =>
    storeReport(context, round, { type: 'apply', document }, run.signal),
  )
  run.conversation.push({ user: round.query, assistant: document.execution_summary })
  const isExpected = document.status === 'Success' || (cancelledBy(run) !== null && result.kind === 'refused')
  if (isExpected || (options.fails && result.kind !== 'ran')) return
  const words = result.kind === 'ran' ? result.stderr.trim() || document.execution_summary : document.execution_summary
  await notify(kit, 'iac.apply.failure', secrets.text(words))
}

/** Puts the user who cancelled first in the facts of an interrupted apply. */
function sayWhoCancelled(run: BareRun, result: ApplyResult, facts: ApplyReport): ApplyReport {
  const by = cancelledBy(run)
  if (by === null || result.kind !== 'ran' || result.exit_code === 0) return facts
  return { ...facts, execution_summary: `${cancelledMessage(by)} ${facts.execution_summary}` }
}

/** Lets a model write the prose of the report; null without output, on failure or after a cancellation. */
async function narrate(kit: BareKit, result: ApplyResult, facts: ApplyReport): Promise<ApplyReport | null> {
  await kit.status.say(
    'report',
    facts.status === 'Success'
      ? 'Infrastructure changes applied. Generating report'
      : 'The infrastructure changes were not applied completely. Generating report',
  )
  const cancelled = kit.run.cancellation?.signal
  if (result.kind !== 'ran' || cancelled?.aborted) return null
  const signal = cancelled ? { signal: AbortSignal.any([kit.run.signal, cancelled]) } : {}
  const output = result.exit_code === 0 ? result.stdout : result.stderr
  return await continueOnFailure(kit, 'the report of an apply is told without a model', () =>
    runChain(kit, applyReportWriter, { output: kit.secrets.text(describeApply(facts, output)) }, signal),
  )
}

/** Returns the result of the work; null, with a logged warning, when it fails. Errors: those that end the round. */
async function continueOnFailure<T>({ run }: BareKit, warning: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof LeaseLost || run.signal.aborted) throw error
    run.log.error(warning, { error })
    return null
  }
}
