import { PlatformError } from '../../src/base/errors.ts'
import { allInOrder } from '../../src/base/gate.ts'
import { importReportWriter } from '../../src/chains/report-writers.ts'
import { describePlan } from '../../src/chains/shared/plan-background.ts'
import { identityOf, type ScopeInventory, takeInventory } from '../../src/plan/imports/inventory.ts'
import { followMoves, leftoverBlocks, stateAlignment, takeOut } from '../../src/plan/imports/pairs.ts'
import { storePreview, storeReport } from '../../src/reports/artifacts.ts'
import { finishReport, reportSchemas } from '../../src/reports/schemas.ts'
import { type ImportFacts, settleImportReport } from '../../src/reports/settle-import.ts'
import { type Kit, requestFor } from '../kit/kit.ts'
import type { Outcome } from '../kit/run.ts'
import { runChain } from '../kit/run-chain.ts'
import {
  type Discovery,
  discover,
  notOffered,
  notSelected,
  type Selection,
  selectChosen,
  selectResources,
} from '../steps/import/discover.ts'
import { converge, importSelected } from '../steps/import/import-selected.ts'
import { type Ledger, openLedger, resumeLedger } from '../steps/import/ledger.ts'
import type { ValidPlan } from '../steps/plan/plan.ts'
import { assertRootIsSupported } from '../steps/shared/check-root.ts'
import { composePrompts } from '../steps/shared/compose-prompts.ts'
import { decline, judgeRequest } from '../steps/shared/judge-request.ts'
import { learnDeclaredSecrets, readDeclarations } from '../steps/shared/look-at-repository.ts'

/**
 * Adopts existing resources of the scope into code and state. The round writes the state itself, so no plan is saved,
 * audited or locked. The scope is listed before any model is asked; a failure of that fails the round with the setting
 * to change.
 */
export async function importResources(kit: Kit): Promise<Outcome> {
  const { run, status } = kit
  const { query, is_partial, resource_ids: chosen } = run.round
  await allInOrder([assertRootIsSupported(kit), learnDeclaredSecrets(kit)])
  await status.say('filtering', query)
  void run.workspace.complete()
  const resumed = await resumeLedger(kit)
  const discovery = await discover(kit)
  if (discovery.failure !== null && !resumed) throw notListed(kit, discovery.failure)
  if (is_partial && !chosen && !resumed) {
    const { accepted, explanation } = await judgeRequest(kit, 'import', readDeclarations(kit))
    if (!accepted) return decline(run, explanation)
  }
  if (discovery.ending !== null && !resumed)
    return await endWithoutImport(
      kit,
      chosen ? selectChosen(kit, discovery, chosen) : { excluded: discovery.withheld, missing: [] },
      discovery.ending,
    )
  const conventions = await composePrompts(kit)
  const selection = resumed
    ? repeatSelection(kit, discovery, resumed)
    : await selectResources(kit, discovery, conventions)
  if (selection.ending !== null) return await endWithoutImport(kit, selection, selection.ending)
  await resumed?.settle(discovery.managed)
  const ledger = resumed ?? (await openLedger(kit, selection.ids))
  const planned = await importSelected(kit, { ledger, resumed: resumed !== null, conventions })
  const misplaced = ledger.misplaced()
  const after = await converge(kit, { ledger, misplaced, imported: planned, conventions })
  const imported = followMoves(ledger.imported(), after.plan, identityOf(run.round.session.provider))
  const excluded = [...selection.excluded, ...ledger.managedElsewhere()]
  const known = new Set(excluded.map(({ resource_id }) => resource_id))
  const facts: ImportFacts = {
    imported,
    failed: [...selection.missing, ...ledger.failed()],
    excluded: [...excluded, ...ledger.foreign().flatMap((id) => (known.has(id) ? [] : notOffered(id)))],
    state_alignment: stateAlignment(imported, after.plan).text,
    recommendations: [
      ...takeOut(misplaced, (await kit.engine.info())?.name),
      ...leftoverBlocks(ledger.failed(), after.plan),
    ],
    nothing: null,
  }
  await writeImportReport(kit, facts, after)
  return { status: 'completed' }
}

/** Repeats the selection of an interrupted attempt, because the state may already hold a part of it. */
function repeatSelection(kit: Kit, discovery: Discovery, ledger: Ledger): Selection {
  const { ids, withheld } = discovery
  const { is_partial, resource_ids: chosen } = kit.run.round
  if (chosen && discovery.failure === null) {
    // Identifiers that the ledger lacks could not be imported when the first attempt selected.
    const isOther = ({ resource_id }: { resource_id: string }) => !ledger.has(resource_id)
    const { excluded, missing } = selectChosen(kit, discovery, chosen)
    return { ids: [], excluded: excluded.filter(isOther), missing: missing.filter(isOther), ending: null }
  }
  const others = is_partial ? ids.filter((id) => !ledger.has(id)) : []
  return {
    ids: [],
    excluded: [...withheld, ...notSelected(others)],
    missing: [],
    ending: null,
  }
}

/** Adds the reason of the failure to the conversation and returns the error. */
function notListed({ run, secrets }: Kit, failure: string): PlatformError {
  run.conversation.push({ user: secrets.text(run.round.query), assistant: failure })
  return new PlatformError('ScopeNotListed', 502, failure)
}

/** Completes a round that has nothing to import, with a report that explains why. */
async function endWithoutImport(
  kit: Kit,
  { excluded, missing: failed }: Pick<Selection, 'excluded' | 'missing'>,
  nothing: string,
): Promise<Outcome> {
  const { run, secrets } = kit
  run.conversation.push({ user: secrets.text(run.round.query), assistant: nothing })
  const { text: state_alignment } = stateAlignment([], null)
  await writeImportReport(kit, { imported: [], failed, excluded, state_alignment, recommendations: [], nothing }, null)
  return { status: 'completed' }
}

/**
 * Lets a model write the prose of the report on an import, and stores it. Results, counts and the comparison with the
 * state come from code. Errors: those of `runAgent` and of the object store; `ReportGenerationError`.
 * @param plan the plan after the import; null when nothing was selected
 */
export async function writeImportReport(kit: Kit, facts: ImportFacts, plan: ValidPlan | null): Promise<void> {
  const { run, secrets, status } = kit
  const outcome = plan === null ? 'There is no plan to report on' : 'Infrastructure successfully validated'
  await status.show('report', `${outcome}. Generating report`)
  const narration = await runChain(kit, importReportWriter, {
    facts,
    plan: plan && describePlan(plan, secrets),
    request: requestFor(kit),
  })
  const document = settleImportReport(narration, facts, secrets)
  await storeReport(run.context, run.round, { type: 'import', document }, run.signal)
}

/** Lists what is managed, unmanaged and left out, for a later import. Uses no model and changes nothing. */
export async function importPreview(kit: Kit): Promise<Outcome> {
  const { run, secrets, status } = kit
  const { provider, scope_id } = run.round.session
  await allInOrder([assertRootIsSupported(kit), learnDeclaredSecrets(kit)])
  await status.show('filtering', `Listing the scope ${scope_id}. Nothing is imported.`)
  const discovery = await discover(kit)
  if (discovery.failure !== null) throw new PlatformError('ScopeNotListed', 502, discovery.failure)
  const inventory = takeInventory({ provider, scope_id, request: run.round.query }, discovery, secrets)
  await storePreview(run.context, run.round, inventory, run.signal)
  await writeImportPreviewReport(kit, inventory)
  return { status: 'completed' }
}

/** Stores the report, with counts only. Errors: those of the object store; `ReportGenerationError`. */
async function writeImportPreviewReport({ run, secrets, status }: Kit, inventory: ScopeInventory): Promise<void> {
  await status.show('report', 'Writing the report on what the scope holds.')
  const { managed, unmanaged, left_out } = inventory.counts
  const counts = `${managed} managed, ${unmanaged} not managed, ${left_out} left out`
  const nothing = `Preview of the scope ${inventory.scope_id}: ${counts}. Nothing was imported.`
  const report = {
    summary: { selected: 0, imported: 0, failed: 0 },
    status: 'Succeeded',
    execution_summary: nothing,
    imported_resources: [],
    excluded_resources: inventory.left_out.map(({ resource_id, reason }) => ({ resource_id, details: reason })),
    state_alignment: stateAlignment([], null).text,
    recommendations: [],
  }
  const document = finishReport('import', reportSchemas.import, report, secrets)
  await storeReport(run.context, run.round, { type: 'import', document }, run.signal)
}
