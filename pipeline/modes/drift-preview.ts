import type { DriftOperation } from '../../src/plan/drift.ts'
import { storeDrift, storeReport } from '../../src/reports/artifacts.ts'
import { settleDriftPreview } from '../../src/reports/settle-drift.ts'
import { createKit, type Kit } from '../kit/kit.ts'
import type { Outcome, Run } from '../kit/run.ts'
import { settleStatusAfter } from '../kit/status.ts'
import { findCoveredDrift } from '../steps/drift/excepted-drift.ts'
import { describeUnmatched, readDrift } from '../steps/drift/read-drift.ts'
import { ASSESSING } from '../steps/drift/remediate-drift.ts'
import { findRequestedScope } from '../steps/drift/requested-scope.ts'
import { learnDeclaredSecrets } from '../steps/shared/learn-declared-secrets.ts'

/** Reports the drift that a drift round would read, and writes nothing. A failing plan is part of the report. */
export async function driftPreview(run: Run): Promise<Outcome> {
  const kit = createKit(run)
  return await settleStatusAfter(kit, () => runDriftPreview(kit))
}

async function runDriftPreview(kit: Kit): Promise<Outcome> {
  const { run, status } = kit
  await learnDeclaredSecrets(kit)
  await status.show('filtering', 'Looking for drift. Nothing is changed.')
  const scope = run.round.is_partial ? await findRequestedScope(kit) : { targets: [] }
  if ('declined' in scope) return { status: 'uncompleted', message: kit.secrets.text(scope.declined) }
  const seen = await lookForDrift(kit, scope.targets)
  await status.show('report', 'Writing the report on what differs.')
  // Code writes the whole report, which needs no prose.
  const document = settleDriftPreview(seen, kit.secrets)
  await storeReport(run.context, run.round, { type: 'drift', document }, run.signal)
  return { status: 'completed' }
}

/** Drift of a single reading, without remediation. */
interface SeenDrift {
  remaining: DriftOperation[]
  excepted: DriftOperation[]
  notes: string[]
  /** Engine output when drift could not be read; null otherwise. */
  failure: string | null
}

/** Reads, filters and stores drift, of everything without targets. Errors: those of its steps. */
async function lookForDrift(kit: Kit, targets: string[]): Promise<SeenDrift> {
  const { run, status } = kit
  await status.show('validating', ASSESSING)
  const reading = await readDrift(kit, null, targets)
  const failure = reading.ok ? describeUnmatched(reading.valid) : reading.feedback
  if (!reading.ok || failure !== null) return { remaining: [], excepted: [], notes: [], failure }
  const { operations } = reading
  await storeDrift(run.context, run.round, { operations, targets }, run.signal)
  const { covered, note } = await findCoveredDrift(kit, operations)
  return {
    remaining: operations.filter((operation) => !covered.includes(operation)),
    excepted: covered,
    notes: note === null ? [] : [note],
    failure: null,
  }
}
