import { createKit, type Kit } from '../kit/kit.ts'
import type { Outcome, Run } from '../kit/run.ts'
import { settleStatusAfter } from '../kit/status.ts'
import { remediateDrift } from '../steps/drift/remediate-drift.ts'
import { findRequestedScope } from '../steps/drift/requested-scope.ts'
import { writeDriftReport } from '../steps/drift/write-drift-report.ts'
import { describeResult } from '../steps/generator/compose-result.ts'
import { composePrompts } from '../steps/shared/compose-prompts.ts'
import { learnDeclaredSecrets } from '../steps/shared/learn-declared-secrets.ts'

/** Makes the code match the infrastructure; lock and saved plan stay. A failing plan is part of the report. */
export async function drift(run: Run): Promise<Outcome> {
  const kit = createKit(run)
  return await settleStatusAfter(kit, () => runDriftRound(kit))
}

async function runDriftRound(kit: Kit): Promise<Outcome> {
  const { run, status } = kit
  const { query } = run.round
  const before = await run.workspace.head()
  await learnDeclaredSecrets(kit)
  await status.say('filtering', query)
  const scope = run.round.is_partial ? await findRequestedScope(kit) : { targets: [] }
  if ('declined' in scope) {
    run.conversation.push({ user: query, assistant: scope.declined })
    return { status: 'uncompleted', message: scope.declined }
  }
  const conventions = await composePrompts(kit)
  const result = await remediateDrift(kit, {
    valid: null,
    targets: scope.targets,
    filterSessionChanges: false,
    conventions,
    maxIterations: run.context.config.orchestration.max_drift_reports,
  }).finally(() => keepTurn(kit))
  await writeDriftReport(kit, result, await run.workspace.changedFiles(before))
  return { status: 'completed' }
}

/** The user's side of the turn for a request without text. */
const WHOLE_DRIFT = 'Bring the code in line with the infrastructure.'

/** Adds one turn for everything that was written, also when the round failed afterwards. */
function keepTurn({ run, secrets }: Kit): void {
  const assistant = describeResult(run.result)
  if (assistant !== '') run.conversation.push({ user: secrets.text(run.round.query).trim() || WHOLE_DRIFT, assistant })
}
