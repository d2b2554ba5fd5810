import { allInOrder } from '../../src/base/gate.ts'
import { driftReportWriter } from '../../src/chains/report-writers.ts'
import { isWithoutResources } from '../../src/plan/plan.ts'
import { storeDrift, storeReport } from '../../src/reports/artifacts.ts'
import { type DriftFacts, settleDriftPreview, settleDriftReport } from '../../src/reports/settle-drift.ts'
import { type Kit, requestFor } from '../kit/kit.ts'
import type { Outcome } from '../kit/run.ts'
import { runChain } from '../kit/run-chain.ts'
import { findFiles } from '../steps/drift/find-files.ts'
import { type DriftResult, findCoveredDrift, withoutCovered } from '../steps/drift/genuine-drift.ts'
import {
  ASSESSING,
  describeUnmatched,
  findRequestedScope,
  readDrift,
  remediateDrift,
} from '../steps/drift/remediate-drift.ts'
import { describeResult } from '../steps/generator/compose-result.ts'
import { planOutsideTargets } from '../steps/plan/plan.ts'
import { assertRootIsSupported } from '../steps/shared/check-root.ts'
import { composePrompts } from '../steps/shared/compose-prompts.ts'
import { initialiseAhead } from '../steps/shared/initialise-ahead.ts'
import { decline } from '../steps/shared/judge-request.ts'
import { learnDeclaredSecrets } from '../steps/shared/look-at-repository.ts'

/** Makes the code match the infrastructure; lock and saved plan stay. A failing plan is part of the report. */
export async function drift(kit: Kit): Promise<Outcome> {
  const { run, status } = kit
  const before = await run.workspace.head()
  await allInOrder([assertRootIsSupported(kit), learnDeclaredSecrets(kit)])
  await status.say('filtering', run.round.query)
  void run.workspace.complete()
  // The files are read before init adds some.
  await kit.survey.look()
  const { max_drift_reports: maxIterations } = run.context.config.orchestration
  const ahead = maxIterations > 0 ? initialiseAhead(kit) : null
  let composing: Promise<unknown> = Promise.resolve()
  try {
    const scope = run.round.is_partial ? await findRequestedScope(kit) : { targets: [] }
    if ('declined' in scope) return decline(run, scope.declined)
    // Reading the drift repeats an init that failed, and needs no conventions.
    const initialised = Promise.allSettled([ahead?.take()])
    const conventions = composePrompts(kit, initialised)
    composing = Promise.allSettled([conventions])
    await initialised
    const result = await remediateDrift(kit, {
      valid: null,
      targets: scope.targets,
      filterSessionChanges: false,
      ...(run.round.is_partial && { request: kit.secrets.text(run.round.query) }),
      conventions,
      maxIterations,
    }).finally(() => keepTurn(kit))
    await writeDriftReport(kit, result, await run.workspace.changedFiles(before))
    return { status: 'completed' }
  } finally {
    await composing
    await ahead?.settle()
  }
}

/** The user's side of the turn for a request without text. */
const WHOLE_DRIFT = 'Bring the code in line with the infrastructure.'

/** Adds one turn for everything that was written, also when the round failed afterwards. */
function keepTurn({ run, secrets }: Kit): void {
  const assistant = describeResult(run.result)
  if (assistant !== '') run.conversation.push({ user: secrets.text(run.round.query).trim() || WHOLE_DRIFT, assistant })
}

/** Reports the drift that a drift round would read, and writes nothing. A failing plan is part of the report. */
export async function driftPreview(kit: Kit): Promise<Outcome> {
  const { run, status } = kit
  await allInOrder([assertRootIsSupported(kit), learnDeclaredSecrets(kit)])
  await status.show('filtering', 'Looking for drift. Nothing is changed.')
  void run.workspace.complete()
  const scope = run.round.is_partial ? await findRequestedScope(kit) : { targets: [] }
  if ('declined' in scope) return { status: 'uncompleted', message: kit.secrets.text(scope.declined) }
  const seen = await lookForDrift(kit, scope.targets)
  await status.show('report', 'Writing the report on what differs.')
  // Code writes the whole report, which needs no prose.
  const document = settleDriftPreview(seen, kit.secrets)
  await storeReport(run.context, run.round, { type: 'drift', document }, run.signal)
  return { status: 'completed' }
}

/**
 * Reads, filters and stores drift, of everything without targets. `failure` is the engine output when drift could not
 * be read. Errors: those of `readDrift`, of the object store and of `runAgent`.
 */
async function lookForDrift(kit: Kit, targets: string[]) {
  const { run, status } = kit
  await status.show('validating', ASSESSING)
  const reading = await readDrift(kit, null, targets)
  const failure = reading.ok ? describeUnmatched(reading.valid) : reading.feedback
  if (!reading.ok || failure !== null) return { remaining: [], excepted: [], notes: [], failure, targets }
  const { operations } = reading
  await storeDrift(run.context, run.round, { operations, targets }, run.signal)
  const { covered, note } = await findCoveredDrift(kit, operations)
  return {
    remaining: withoutCovered(operations, covered),
    excepted: covered,
    notes: note === null ? [] : [note],
    failure: null,
    targets,
    isEmpty: isWithoutResources(reading.valid.plan),
  }
}

const NOTHING_COMPARED =
  'Nothing was compared: the configuration allows no iteration (orchestration.max_drift_reports).'

/**
 * Lets a model write the report on a drift round from the branch diff, and stores it. Status, addresses and remaining
 * drift are computed and override the model. Errors: those of `runAgent`, of the workspace, of the object store and of
 * `planOutsideTargets`; `ReportGenerationError`.
 * @param changedFiles files that the commits of the round changed
 */
export async function writeDriftReport(kit: Kit, drift: DriftResult, changedFiles: readonly string[]) {
  const { run, secrets } = kit
  // Without a plan and an engine failure, no iteration took place.
  const failure = drift.feedback ?? (drift.valid ? null : NOTHING_COMPARED)
  // Code that was changed for some targets may also change other resources.
  const outsideTargets =
    drift.valid && failure === null && changedFiles.length > 0 ? planOutsideTargets(kit, drift.valid) : null
  // Both are awaited, also when the model fails, because the engine job of the plan works in this workspace.
  const targets = drift.valid?.reference.targets ?? []
  const [narration] = await Promise.allSettled([narrate(kit, { ...drift, failure, targets }), outsideTargets])
  if (narration.status === 'rejected') throw narration.reason
  const isEmpty = drift.valid !== null && isWithoutResources(drift.valid.plan)
  const known = {
    notes: drift.exclusions,
    failure,
    changedFiles,
    isEmpty,
    targets,
    fileOf: await findFiles(kit, changedFiles),
  }
  const facts: DriftFacts = { ...drift, ...known, beyond: await outsideTargets }
  const document = settleDriftReport(narration.value, facts, secrets)
  await storeReport(run.context, run.round, { type: 'drift', document }, run.signal)
  return document
}

async function narrate(
  kit: Kit,
  known: Pick<DriftResult, 'remaining' | 'excepted' | 'exclusions' | 'written'> & {
    failure: string | null
    targets: readonly string[]
  },
) {
  const outcome = known.failure === null ? 'Infrastructure successfully validated' : 'The drift could not be read'
  await kit.status.show('report', `${outcome}. Generating report`)
  const diff = await kit.run.workspace.branchDiff()
  return await runChain(kit, driftReportWriter, { ...known, request: requestFor(kit), diff })
}
