import { memberOf } from '../../../src/base/json.ts'
import { quoteNames } from '../../../src/base/text.ts'
import {
  isLoadedByItself,
  isVariableFile,
  readVariableChanges,
  type VariableChanges,
  variablesSetIn,
} from '../../../src/plan/code/variable-files.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { planCounts } from '../../../src/plan/planned-changes.ts'
import { fence } from '../../../src/prompts/layout.ts'
import type { Finding } from '../../kit/attempts.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { copyCommit, type WorkspaceCopy } from '../../workspace/clone.ts'
import { readWhole } from '../../workspace/files/private-files.ts'
import type { SurveyedFile } from '../../workspace/files/survey.ts'
import { describeRefusal, EngineRefusal, planRoot } from '../plan/plan.ts'
import type { PlanCheck } from '../plan/validators.ts'

export interface EnvironmentResult {
  environment: Environment
  /** `broken`: it fails only because of the session. `unknown`: it could not be planned at all. */
  verdict: 'valid' | 'broken' | 'failing' | 'unknown'
  /** One masked line: the planned resources, or the reason of the failure. */
  facts: string
  /** Engine output of a failure, masked. */
  output: string
}

/** Plans the code with the values of the environments that the session's changes concern. */
export type EnvironmentCheck = ReturnType<typeof createEnvironmentCheck>

/**
 * Creates the check of a round. The engine works on a copy with an empty state, because the session knows the state of
 * one environment only: such a plan shows validity, not changes. A failing plan is compared with one of the code before
 * the session. Its functions throw `LeaseLost` and the reason of the run's signal; any other error is a result.
 */
export function createEnvironmentCheck(kit: Kit) {
  let last: { commit: string; found: FoundEnvironments; results: EnvironmentResult[] } | null = null
  const check = async () => {
    const commit = await kit.run.workspace.head()
    if (last?.commit === commit) return last
    const found = await findEnvironments(kit)
    const results = found.concerned.length === 0 ? [] : await planAll(kit, commit, found.concerned)
    last = { commit, found, results }
    return last
  }
  return {
    /** Returns the results for the committed code, planned once per commit. */
    results: async () => (await check()).results,
    /** Returns the results as lines for people, including environments that were not planned. */
    notes: async () => {
      const { found, results } = await check()
      return [...(results.length > 0 ? [OF_PLAN] : []), ...results.map(noteOf), ...notesOnOthers(found)]
    },
  }
}

async function planAll(kit: Kit, commit: string, environments: Environment[]): Promise<EnvironmentResult[]> {
  const results = await planCommit(kit, commit, environments)
  const failing = results.filter(({ verdict }) => verdict === 'failing').map(({ environment }) => environment)
  if (failing.length === 0) return results
  const { run } = kit
  const base = await withFallback(run, 'the code before the session could not be found', null, run.workspace.baseCommit)
  if (base === null) return results
  const before = await planCommit(kit, base, failing, { ownValues: true })
  const wasValid = (path: string) => before.some((one) => one.environment.path === path && one.verdict === 'valid')
  return results.map((result) =>
    result.verdict === 'failing' && wasValid(result.environment.path) ? { ...result, verdict: 'broken' } : result,
  )
}

/**
 * Plans a commit with each of the environments, one after the other in the same copy.
 * @param options.ownValues true for the files of values as the commit has them
 */
async function planCommit(
  kit: Kit,
  commit: string,
  environments: Environment[],
  { ownValues = false } = {},
): Promise<EnvironmentResult[]> {
  const { run } = kit
  let copy: WorkspaceCopy | null = null
  try {
    copy = await copyCommit(run.context.config, run.workspace, commit, run.signal)
    const root = { workspace_path: copy.iacRoot, state: copy.state }
    const init = await kit.engine.run('init', { ...kit.engine.scoped, ...root })
    if (init.exit_code !== 0) throw new EngineRefusal(init, 'init')
    const results: EnvironmentResult[] = []
    for (const environment of environments) {
      const text = ownValues ? await readWhole(`${copy.iacRoot}/${environment.path}`, MAX_BYTES) : environment.text
      // A commit without the file tells nothing about this environment.
      if (text !== null) results.push(await planOne(kit, copy, { ...environment, text }))
    }
    return results
  } catch (error) {
    const reason = describeRefusal(kit, error)
    run.log.warn('the code could not be planned for other environments', { error })
    return environments.map((environment) => ({ environment, verdict: 'unknown', facts: reason, output: '' }))
  } finally {
    await copy?.remove().catch((error: unknown) => run.log.warn('a copy of the code was not removed', { error }))
  }
}

const PLAN_FILE = 'environment.plan'

async function planOne(kit: Kit, copy: WorkspaceCopy, environment: Environment): Promise<EnvironmentResult> {
  const { secrets } = kit
  try {
    const place = { workspace_path: copy.iacRoot, state: copy.state, plan_file: PLAN_FILE }
    const plan = await copy.withValues(environment, () => planRoot(kit, place))
    await secrets.learn(plan)
    return { environment, verdict: 'valid', facts: secrets.text(factsOf(plan, environment)), output: '' }
  } catch (error) {
    if (!(error instanceof EngineRefusal)) throw error
    return { environment, verdict: 'failing', facts: describeRefusal(kit, error), output: secrets.text(error.message) }
  }
}

const MAX_VALUE = 60
const MAX_VALUES = 8

/** Describes the number of planned resources and the values of the changed variables. */
function factsOf(plan: Plan, { names, before }: Environment): string {
  const { create } = planCounts(plan)
  const values = names.slice(0, MAX_VALUES).flatMap((name) => {
    const value = memberOf(memberOf(plan.document.variables, name), 'value')
    const text = value === undefined ? '' : JSON.stringify(value)
    const was = before.get(name)
    const change = was === undefined ? '' : ` (before this session ${shorten(was)})`
    return text === '' ? [] : [`\`${name}\` = ${shorten(text)}${change}`]
  })
  return [`${create} ${create === 1 ? 'resource' : 'resources'} in all`, ...values].join('; ')
}

const shorten = (text: string): string => (text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text)

const OF_PLAN =
  'The plan under review is that of the environment whose values the engine reads by itself: the defaults of the ' +
  'variables, `terraform.tfvars` and `*.auto.tfvars`. It says nothing about other environments. The code was tried ' +
  'with their values on an empty state: that shows whether it is valid there, and with which values, not what would ' +
  'change there.'

function noteOf({ environment, verdict, facts }: EnvironmentResult): string {
  const tried = `Tried with the values of \`${environment.path}\``
  if (verdict === 'valid') return `${tried}: the code is valid, with ${facts}.`
  if (verdict === 'broken') return `${tried}: the code fails, and did not before this session: ${facts}`
  if (verdict === 'failing') return `${tried}: the code fails: ${facts}`
  return `Not tried with the values of \`${environment.path}\`: ${facts}`
}

const MAX_NAMED = 10
const listOf = (paths: readonly string[]) => quoteNames(paths, MAX_NAMED)

function notesOnOthers({ unconcerned, beyondLimit, ofOtherRoots }: FoundEnvironments): string[] {
  return [
    unconcerned.length > 0 &&
      `Not tried with the values of ${listOf(unconcerned)}: the session changed no variable that is set there. What it ` +
        'added was not checked with these values.',
    beyondLimit.length > 0 &&
      `Not tried with the values of ${listOf(beyondLimit)}: a round tries at most ${MAX_PLANNED} such files.`,
    ofOtherRoots.length > 0 &&
      `Not tried with the values of ${listOf(ofOtherRoots)}: another root of the repository uses them.`,
  ].filter((note) => note !== false)
}

/** Creates the check of a loop that once rejects code that breaks another environment, which was valid before. */
export const createEnvironmentsCheck = (environments: EnvironmentCheck): PlanCheck => ({
  most: 1,
  writeQuery,
  check: async () => {
    const results = await environments.results()
    const broken = results.filter(({ verdict }) => verdict === 'broken')
    const known = results.filter(({ verdict }) => verdict === 'valid' || verdict === 'broken')
    return {
      findings: broken.map(findingOf),
      feedback: broken.map(({ environment, output }) => `With ${environment.path}:\n${output}`).join('\n\n'),
      verdicts: new Map(
        known.map(({ environment, verdict }) => [`valid with ${environment.path}`, verdict === 'valid']),
      ),
    }
  },
})

const findingOf = ({ environment, facts, output }: EnvironmentResult): Finding => ({
  severity: 'error',
  summary: `The code fails with the values of ${environment.path}: ${facts}`,
  detail: output,
  file: environment.path,
})

const writeQuery = (feedback: string): string =>
  'The code is valid with the values that the engine reads by itself, but no longer with those of other ' +
  'environments. Correct it, in the code or in the file of values, so that it is valid with each of them, and keep ' +
  `what was asked for. What the engine says:\n${fence('engine output', feedback)}`

/** A file with the values of one environment, which the engine does not read by default. */
interface Environment {
  /** Path with slashes, relative to the engine root. */
  path: string
  text: string
  /** Variables that the session changes and that the file sets. */
  names: string[]
  /** Earlier values, by name, of the variables whose value the session changed in the file. */
  before: ReadonlyMap<string, string>
}

/** The value files of a root that the engine does not read by default. */
interface FoundEnvironments {
  /** Environments that the session's changes concern, up to the limit of a round. */
  concerned: Environment[]
  unconcerned: string[]
  /** Further concerned environments, beyond the limit. */
  beyondLimit: string[]
  /** Files that the session changed in a folder with code of its own. */
  ofOtherRoots: string[]
}

const NONE: FoundEnvironments = { concerned: [], unconcerned: [], beyondLimit: [], ofOtherRoots: [] }

const MAX_PLANNED = 5
const MAX_BYTES = 128 * 1024

/** Finds environments whose file, or a variable in it, the session changes; none, and a log entry, on failure. */
function findEnvironments({ run, openFiles }: Kit): Promise<FoundEnvironments> {
  return withFallback(run, 'the files of other environments could not be looked at', NONE, async () => {
    const changes = readVariableChanges(await run.workspace.versions())
    if (changes.names.size + changes.files.size === 0) return NONE
    const access = openFiles()
    const surveyed = (await access.survey(run.signal)).files.filter(({ path }) => !path.startsWith('../'))
    const candidates = surveyed.filter(
      ({ path, bytes }) => isVariableFile(path) && !isLoadedByItself(path) && bytes <= MAX_BYTES,
    )
    const own = candidates.filter(({ path }) => !isOfOtherRoot(path, surveyed))
    const texts = await access.readAll(own.map(({ path }) => path))
    if (texts.size < own.length) throw new Error('a file of another environment could not be read')
    const concerned = own
      .map(({ path }) => concern(path, texts.get(path) ?? '', changes))
      .filter((environment) => environment !== null)
    const paths = new Set(concerned.map(({ path }) => path))
    return {
      concerned: concerned.slice(0, MAX_PLANNED),
      unconcerned: own.map(({ path }) => path).filter((path) => !paths.has(path)),
      beyondLimit: concerned.slice(MAX_PLANNED).map(({ path }) => path),
      ofOtherRoots: candidates
        .map(({ path }) => path)
        .filter((path) => changes.files.has(path) && isOfOtherRoot(path, surveyed)),
    }
  })
}

/** Returns the environment of a file; null when the session's changes do not concern it. */
function concern(path: string, text: string, { files, names, before }: VariableChanges): Environment | null {
  const set = variablesSetIn(text, names)
  return set.length > 0 || files.has(path) ? { path, text, names: set, before: before.get(path) ?? new Map() } : null
}

/** True if a folder between root and file has code of its own, such as a module or another root. */
const isOfOtherRoot = (path: string, files: readonly SurveyedFile[]): boolean =>
  path.includes('/') && files.some((file) => /\.(?:tf|tofu)$/.test(file.path) && folderOf(file.path) === folderOf(path))

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)
