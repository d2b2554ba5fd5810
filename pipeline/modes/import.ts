import { requestsFilter } from '../../src/chains/requests-filter.ts'
import { leftoverBlocks, stateAlignment } from '../../src/plan/imports/alignment.ts'
import type { ImportFacts } from '../../src/reports/settle-import.ts'
import { createKit, type Kit } from '../kit/kit.ts'
import type { Outcome, Run } from '../kit/run.ts'
import { runChain } from '../kit/run-chain.ts'
import { converge } from '../steps/import/converge.ts'
import { type Discovery, discover, type Ending } from '../steps/import/discover.ts'
import { importSelected } from '../steps/import/import-selected.ts'
import { type Ledger, openLedger, resumeLedger } from '../steps/import/ledger.ts'
import { NOT_SELECTED, type Selection, selectResources } from '../steps/import/select.ts'
import { writeImportReport } from '../steps/import/write-import-report.ts'
import { composePrompts } from '../steps/shared/compose-prompts.ts'
import { learnDeclaredSecrets } from '../steps/shared/learn-declared-secrets.ts'

/**
 * Brings existing resources of the scope into code and managed state (contract, section 2.6). The state is
 * written during the round; nothing is pinned, audited or locked.
 */
export async function importResources(run: Run): Promise<Outcome> {
  const kit = createKit(run)
  try {
    return await importRound(kit)
  } finally {
    // The terminal status must be the last row, also after a failure.
    await kit.status.settle().catch(() => {})
  }
}

async function importRound(kit: Kit): Promise<Outcome> {
  const { run, status } = kit
  const { query, is_partial } = run.round
  await learnDeclaredSecrets(kit)
  await status.say('filtering', query)
  const resumed = await resumeLedger(kit)
  if (is_partial && !resumed) {
    const verdict = await runChain(kit, requestsFilter, { request: query, operation: 'import' })
    if (!verdict.accepted) {
      run.conversation.push({ user: query, assistant: verdict.explanation })
      return { status: 'uncompleted', message: verdict.explanation }
    }
  }
  const conventions = await composePrompts(kit)
  const found = await discover(kit)
  const selection = resumed ? resumedSelection(kit, found, resumed) : await selectResources(kit, found, conventions)
  if (selection.ending) return await endWithoutImport(kit, selection, selection.ending)
  await resumed?.settle(found.managed)
  const ledger = resumed ?? (await openLedger(kit, selection.ids))
  const planned = await importSelected(kit, { ledger, resumed: resumed !== null, conventions })
  const after = await converge(kit, ledger, planned, conventions)
  const facts: ImportFacts = {
    imported: ledger.imported(),
    failed: ledger.failed(),
    excluded: [...selection.excluded, ...ledger.taken()],
    state_alignment: stateAlignment(ledger.imported(), after.plan).text,
    recommendations: leftoverBlocks(ledger.failed(), after.plan),
    nothing: null,
  }
  await writeImportReport(kit, facts, after)
  return { status: 'completed' }
}

/** An earlier attempt selected already, and the state holds a part of it. */
function resumedSelection({ run }: Kit, { ids, withheld }: Discovery, ledger: Ledger): Selection {
  const others = run.round.is_partial ? ids.filter((id) => !ledger.has(id)) : []
  return {
    ids: [],
    excluded: [...withheld, ...others.map((resource_id) => ({ resource_id, details: NOT_SELECTED }))],
    ending: null,
  }
}

/** There is nothing to import: the round ends well, with a report that says why. */
async function endWithoutImport(kit: Kit, { excluded }: Selection, nothing: Ending): Promise<Outcome> {
  const { run, secrets } = kit
  run.conversation.push({ user: secrets.text(run.round.query), assistant: nothing.text })
  const { text: state_alignment } = stateAlignment([], null)
  await writeImportReport(
    kit,
    { imported: [], failed: [], excluded, state_alignment, recommendations: [], nothing },
    null,
  )
  return { status: 'completed' }
}
