import * as v from 'valibot'
import { LeaseLost, PlatformError } from '../../../src/base/errors.ts'
import { parseJson } from '../../../src/base/json.ts'
import { endSentence, joinNames } from '../../../src/base/text.ts'
import type { StateChoice } from '../../../src/base/vocabulary.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import {
  canonicalRepository,
  deleteManagedState,
  deriveProjectId,
  readManagedState,
} from '../../../src/plan/state/managed-state.ts'
import { recordAdoption, recordStateChoice } from '../../../src/rounds/run-records.ts'
import { claimProject, releaseProject } from '../../../src/rounds/transitions.ts'
import { type EngineRoot, type StateSummary, StateSummarySchema } from '../../../src/services/iac/contract.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Outcome, Run } from '../../kit/run.ts'
import {
  assertNoForeignBackend,
  describeState,
  findOwnBackend,
  LOCAL_STATE_FILE,
  type OwnBackend,
  writeOverride,
  writeStateKeys,
} from '../../workspace/backend-override.ts'
import { copyCommit } from '../../workspace/clone.ts'
import { decline } from '../shared/judge-request.ts'
import { learnDeclaredSecrets } from '../shared/look-at-repository.ts'
import { describeRefusal, EngineRefusal, initialise, planRoot } from './plan.ts'

/** Where the state of a round lies, as far as code and stores tell. */
export type Standing =
  /** In the state that the platform manages, or in none that it could lose. */
  | { on: 'managed' }
  /** In the backend of the repository, which the session keeps. */
  | { on: 'own'; own: OwnBackend }
  /** In the backend of the repository, perhaps, while the managed one is empty or was copied without an end. */
  | { on: 'unknown'; own: OwnBackend; choice: StateChoice | 'ask'; wasCopied: boolean }
  | { on: 'nowhere'; reason: string; own: OwnBackend | null; choices: StateChoice[] }

/** Finds out where the state of a run lies, without the engine. Errors: those of the state store. */
export async function findStanding({ context, round, workspace, signal }: Run): Promise<Standing> {
  if (!context.stateStore) return { on: 'managed' }
  const { uri, root_path } = round.session.workspace
  const own = await findOwnBackend(workspace.iacRoot)
  const asked = round.state ?? round.session.state_choice ?? null
  const keeps = asked === 'keep'
  if (own === null) return keeps ? { on: 'nowhere', reason: NO_BACKEND, own, choices: [] } : { on: 'managed' }
  const managed = await readManagedState(context, await deriveProjectId(uri, round.session.scope_id, root_path), signal)
  const isEmpty = managed !== null && managed.lineage === ''
  const wasCopied = !isEmpty && round.session.state_choice === 'adopt'
  if (!isEmpty && !wasCopied)
    return keeps ? { on: 'nowhere', reason: IS_MANAGED, own, choices: ['adopt'] } : { on: 'managed' }
  const choice = asked ?? context.config.storage.existing_state
  if (choice !== 'keep') return { on: 'unknown', own, choice, wasCopied }
  if (own.type === 'cloud') return { on: 'nowhere', reason: BEHIND_CLOUD, own, choices: ['new'] }
  return own.type === 'local' ? { on: 'nowhere', reason: IN_CLONE, own, choices: ['adopt'] } : { on: 'own', own }
}

const NO_BACKEND = 'The root declares no backend of its own, so there is none to keep.'
const IS_MANAGED =
  'The platform already manages a state of this root, which is not empty, so the backend of the repository is not ' +
  'kept: two states of the same infrastructure would contradict each other. Ask again with `state: adopt` to work on ' +
  'the managed one, or move it out first (docs/operations.md).'
const IN_CLONE =
  'The state is a file of the repository, which an apply would write to a working copy that is thrown away, so it is ' +
  'not kept there. Ask again with `state: adopt`.'

const BEHIND_CLOUD =
  'A state behind a `cloud` block is neither read, copied nor kept by the platform. Copy it into the managed one by ' +
  'hand (docs/operations.md).'

/**
 * Settles where the state of a round lies, before the first model call and the first plan: opens the kept backend,
 * adopts its state, or stops the round with the choice. Returns the end of a round that stops, null for one that goes
 * on. Errors: `LeaseLost`; the reason of the run's signal; those of database, workspace and state store.
 */
export async function settleState(kit: Kit, standing: Standing): Promise<Outcome | null> {
  if (standing.on === 'managed') return null
  if (standing.on === 'nowhere') return stop(kit, standing.reason, standing.own, null, standing.choices)
  await learnDeclaredSecrets(kit)
  const { own } = standing
  if (standing.on === 'own') return await openOwn(kit, own)
  if (standing.choice === 'new') {
    await remember(kit, 'new')
    return await goOn(kit, `The state of the repository's own backend ${nameOf(own)} was left aside, as asked.`)
  }
  await kit.status.show('filtering', `Reading the state that the repository keeps in its own backend ${nameOf(own)}.`)
  return await withCopy(kit, (copy) => settleUnknown(kit, { ...standing, choice: standing.choice }, copy))
}

const nameOf = ({ type, file }: OwnBackend) => (file === LOCAL_STATE_FILE ? `(${file})` : `"${type}" (${file})`)

/** Initialises the root with the backend of the repository: a model that changes it later cannot lose the state. */
async function openOwn(kit: Kit, own: OwnBackend): Promise<Outcome | null> {
  const refused = await initialise(kit, limitOf(kit)).then(
    (failed) => failed && new EngineRefusal(failed, 'init'),
    (error: unknown) => {
      if (error instanceof PlatformError && error.status === 504) return error
      throw error
    },
  )
  if (refused !== null) {
    const reason = `${endSentence(describeRefusal(kit, refused))} ${credentialsOf(kit)}`
    return stop(kit, `The repository's own backend ${nameOf(own)} cannot be opened: ${reason}`, own, null, ['keep'])
  }
  await remember(kit, 'keep')
  return await goOn(kit, `The state stays in the repository's own backend ${nameOf(own)}.`)
}

/** Backends such as `gcs` and `azurerm` try a host that does not answer again for minutes, or without an end. */
const limitOf = ({ run }: Kit) => ({ limitS: run.context.config.storage.existing_state_timeout })

const credentialsOf = ({ engine }: Kit) =>
  `The engine had the credentials of the session's cloud (${engine.scoped.engine_provider}).`

/** Makes the choice hold for the session. */
async function remember({ run: { context, round } }: Kit, choice: StateChoice): Promise<void> {
  await recordStateChoice(context.sql, round, choice)
}

/** Tells what becomes of the state in status and result, and goes on. */
async function goOn({ run, secrets, status }: Kit, text: string): Promise<null> {
  run.result.notes.push(secrets.text(text))
  await status.show('filtering', text)
  return null
}

/** Ends the round with the choice. */
function stop(
  { run, secrets }: Kit,
  reason: string,
  own: OwnBackend | null,
  summary: StateSummary | null,
  choices: StateChoice[],
): Outcome {
  const { mode, is_partial } = run.round
  if (own !== null && choices.length > 0 && mode !== 'apply')
    run.result.state_question = {
      ...{ mode, is_partial },
      backend: own.type,
      serial: summary?.serial ?? null,
      resources: summary?.addresses.length ?? null,
      choices,
    }
  return decline(run, secrets.text(reason))
}

const WAYS: Record<StateChoice, string> = {
  adopt: '`adopt` copies that state into the managed one',
  keep: "`keep` works on the repository's own backend",
  new: '`new` leaves it aside and creates everything anew',
}

const BOTH: readonly StateChoice[] = ['adopt', 'keep']
/** The choices that a kind of backend has not. */
const LACKS: Partial<Record<string, readonly StateChoice[]>> = { local: ['keep'], cloud: BOTH }

/** Says what is known about the state, why the round stops, and how to ask again. */
function ask(kit: Kit, own: OwnBackend, facts: string, summary: StateSummary | null): Outcome {
  const choices: StateChoice[] = BOTH.filter((choice) => !LACKS[own.type]?.includes(choice))
  if (summary === null) choices.push('new')
  const text =
    `The repository keeps the state of this root in a backend of its own, ${nameOf(own)}, and the one that the ` +
    `platform manages is empty: a plan would create everything anew, so nothing was planned. ${facts} ` +
    `Ask again with a choice in \`state\`: ${choices.map((choice) => WAYS[choice]).join('; ')}.`
  return stop(kit, text, own, summary, choices)
}

async function settleUnknown(
  kit: Kit,
  { own, choice, wasCopied }: Extract<Standing, { on: 'unknown' }>,
  copy: string,
): Promise<Outcome | null> {
  if (own.type === 'cloud') return ask(kit, own, `Whether it has a state is not known. ${BEHIND_CLOUD}`, null)
  const place = { ...kit.engine.scoped, workspace_path: copy }
  const summary = await read(kit, place)
  if (typeof summary === 'string')
    return ask(kit, own, `Whether it has a state is not known: ${endSentence(summary)} ${credentialsOf(kit)}`, null)
  const others = (summary.workspaces ?? []).filter((name) => name !== 'default')
  if (others.length > 0) {
    const names = `Its backend has other workspaces than the default one (${joinNames(others, 5)}).`
    return ask(kit, own, `${names} The platform works in the default one alone and adopts no other.`, summary)
  }
  if (summary.addresses.length === 0) {
    const isSure = summary.workspaces !== null
    if (!isSure) return ask(kit, own, 'Its default workspace is empty, and others could not be listed.', null)
    return await goOn(kit, `The repository's own backend ${nameOf(own)} has no state yet: the platform manages it.`)
  }
  const found = `That state has serial ${summary.serial} and ${count(summary.addresses.length)}.`
  if (choice !== 'adopt' || kit.run.round.preview)
    return ask(kit, own, choice === 'adopt' ? `${found} A preview adopts nothing.` : found, summary)
  const adoption = await adopt(kit, { own, summary, copy, wasCopied })
  if ('reason' in adoption)
    return ask(kit, own, `${found} It was not adopted: ${endSentence(adoption.reason)}`, summary)
  return await goOn(kit, adoption.note)
}

const count = (number: number) => (number === 1 ? '1 resource' : `${number} resources`)

/** Does work in a copy of the code before the session, with the repository's own backend. Returns its root. */
async function withCopy<T>({ run }: Kit, work: (iacRoot: string) => Promise<T>): Promise<T> {
  const { context, workspace, signal } = run
  const base = await workspace.baseCommit()
  const copy = await copyCommit(context.config, workspace, base, signal, { backend: 'own' })
  try {
    return await work(copy.iacRoot)
  } finally {
    await copy.remove().catch((error: unknown) => run.log.warn('a copy of the code was not removed', { error }))
  }
}

/** Reads the state of a root's backend; returns why that is not possible. */
async function read(kit: Kit, place: Kit['engine']['scoped'] & EngineRoot): Promise<StateSummary | string> {
  try {
    if (!(await offers(kit, 'state_summary'))) return 'the iac service does not offer to read it.'
    const init = await kit.engine.run('init', place, limitOf(kit))
    if (init.exit_code !== 0) throw new EngineRefusal(init, 'init')
    return await summarise(kit, place)
  } catch (error) {
    return describeRefusal(kit, error)
  }
}

async function summarise(kit: Kit, place: Kit['engine']['scoped'] & EngineRoot): Promise<StateSummary> {
  const result = await kit.engine.run('state_summary', place)
  if (result.exit_code !== 0) throw new EngineRefusal(result, 'state pull')
  const parsed = v.safeParse(StateSummarySchema, parseJson(result.stdout))
  if (!parsed.success) throw new PlatformError('StateUnreadable', 502, 'the iac service answered no summary of it.')
  return parsed.output
}

const offers = async ({ run: { context, signal } }: Kit, addition: 'state_summary' | 'migrate_state') =>
  (await context.iac.offers?.(addition, signal)) ?? false

interface Adoption {
  own: OwnBackend
  summary: StateSummary
  /** Root of the copy, initialised with the repository's own backend. */
  copy: string
  /** True if an interrupted run of this session has copied the state, so that only the proof is missing. */
  wasCopied: boolean
}

/**
 * Copies a state into the managed one while the engine holds the locks of both, and proves the copy: it has the same
 * content, and a plan of the unchanged code would change the same as with the source. A copy without proof is deleted;
 * the source is only read. Errors: `LeaseLost`; the reason of the run's signal; those of database and store.
 */
async function adopt(kit: Kit, adoption: Adoption): Promise<{ note: string } | { reason: string }> {
  const { run } = kit
  const { context, round } = run
  const { uri, root_path } = round.session.workspace
  const projectId = await deriveProjectId(uri, round.session.scope_id, root_path)
  const holder = await claimProject(context.sql, round, projectId)
  if (holder !== null) return { reason: `session ${holder} works on the managed state at this moment.` }
  const outcome = await adoptHeld(kit, adoption, projectId)
  await context.sql.begin((tx) => releaseProject(context.queue, tx, round))
  return outcome
}

async function adoptHeld(
  kit: Kit,
  adoption: Adoption,
  projectId: string,
): Promise<{ note: string } | { reason: string }> {
  const { run } = kit
  const { context, round } = run
  let isOurs = false
  try {
    if (!(await offers(kit, 'migrate_state'))) return { reason: 'the iac service does not offer to copy it.' }
    await assertNoForeignBackend(adoption.copy, context.config.paths.backend_override_filename)
    const before = await planCopy(kit, { workspace_path: adoption.copy })
    const managed = await readManagedState(context, projectId, run.signal)
    if (!adoption.wasCopied && managed?.lineage !== '') return { reason: 'the managed state is no longer empty.' }
    await remember(kit, 'adopt')
    isOurs = !adoption.wasCopied
    const { lineage, differences } = await copyAndProve(kit, adoption, before)
    await recordAdoption(context.sql, round, {
      ...{
        repository: canonicalRepository(round.session.workspace.uri),
        backend: adoption.own.type,
        project_id: projectId,
      },
      ...{ lineage: adoption.summary.lineage, serial: adoption.summary.serial, managed_lineage: lineage },
      resources: adoption.summary.addresses.length,
    })
    isOurs = false
    await recordStateChoice(context.sql, round, null)
    return { note: noteOf(adoption, differences) }
  } catch (error) {
    const isHeld = !(error instanceof LeaseLost || (run.cancellation?.held ?? run.signal).aborted)
    if (isOurs && isHeld) {
      await deleteManagedState(context, projectId)
      await recordStateChoice(context.sql, round, null)
    }
    const reason = describeRefusal(kit, error)
    return { reason: isOurs ? `${endSentence(reason)} Nothing of it is left in the managed state.` : reason }
  }
}

function noteOf({ own, summary }: Adoption, differences: string[]): string {
  const adopted =
    `The state of the repository's own backend ${nameOf(own)}, serial ${summary.serial} with ` +
    `${count(summary.addresses.length)}, was copied into the managed one under lock and compared.`
  if (differences.length === 0) return `${adopted} A plan of the unchanged code is empty.`
  return `${adopted} The unchanged code differs from it as it did before: ${joinNames(differences, 10)}.`
}

/** Copies the state and compares it. Errors: `EngineRefusal`; `CopyDiffers`. */
async function copyAndProve(kit: Kit, { copy, summary, wasCopied }: Adoption, before: Plan) {
  const { run, engine, secrets } = kit
  const { context, round, log } = run
  await writeOverride(context.config, round.session, copy, log)
  const keys = await writeStateKeys(context, round.session, copy)
  if (keys !== null) secrets.add([keys.secret_key, keys.session_token])
  const place = { workspace_path: copy, ...(await describeState(context.config, round.session)) }
  const init = await engine.run('init', { ...engine.scoped, ...place, ...(!wasCopied && { migrate_state: true }) })
  if (init.exit_code !== 0) throw new EngineRefusal(init, 'init')
  const copied = await summarise(kit, { ...engine.scoped, ...place })
  if (copied.content_sha256 !== summary.content_sha256) throw differs('the copy holds another state than the source.')
  const was = changesOf(before)
  const is = changesOf(await planCopy(kit, place))
  const added = is.filter((change) => !was.includes(change))
  if (added.length > 0) throw differs(`a plan of the unchanged code would ${joinNames(added, 5)}.`)
  return { lineage: copied.lineage, differences: is }
}

const differs = (text: string) => new PlatformError('CopyDiffers', 502, text)

async function planCopy(kit: Kit, place: EngineRoot): Promise<Plan> {
  const plan = await planRoot(kit, { ...place, plan_file: 'unchanged.plan' }, { waits: false })
  await kit.secrets.learn(plan)
  return plan
}

/** Lists what a plan would change, for example `create aws_vpc.main`. */
const changesOf = ({ resource_changes }: Plan): string[] =>
  resource_changes.flatMap(({ address, change: { actions } }) =>
    ['no-op', 'read'].includes(actions.join()) ? [] : [`${actions.join(' and ')} ${address}`],
  )
