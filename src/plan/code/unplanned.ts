import { quoteNames } from '../../base/text.ts'
import { covers } from '../addresses.ts'
import { listChanges } from '../change-list.ts'
import { type Plan, plannedResources, stateResources } from '../plan.ts'
import { changesOutputs } from '../planned-changes.ts'
import { isCodePath } from './blocks.ts'
import type { Changed, PlacedBlock } from './compare.ts'
import { callOf, folderOf, modulePaths, within } from './modules.ts'
import { isVariableFile } from './variable-files.ts'

/**
 * A changed file, relative to the root, and what it is to the engine there:
 * - `loaded`: code or values that it loads; `read`: a file that the loaded code names
 * - `values`: a variable file of another environment; `lock`: the lock file of the providers
 * - `elsewhere`: code in a folder that had code before and that this root does not load
 * - `unloaded`: other code that nothing loads; `removed`: code that nothing loaded and that is gone
 * - `other`: no code, such as a README
 */
export interface ChangedFile {
  path: string
  kind: 'loaded' | 'read' | 'values' | 'lock' | 'elsewhere' | 'unloaded' | 'removed' | 'other'
  /** True when its texts were not read, so that anything in it may have changed. */
  isUnread?: boolean
}

/** Reports whether the changes concern what the engine evaluates in this root, and not comments alone. */
export function changesValues(changed: readonly ChangedFile[], blocks: readonly Changed[]): boolean {
  const loaded = changed.filter(({ kind }) => kind === 'loaded' || kind === 'read' || kind === 'values')
  const folders = new Set(loaded.map(({ path }) => folderOf(path)))
  return (
    loaded.some(({ path, isUnread }) => isUnread || !isCodePath(path)) ||
    blocks.some(({ folder }) => folders.has(folder))
  )
}

/** Returns the sentence about changed files that the plan does not cover; null when there are none. */
export function describeUnplanned(changed: readonly ChangedFile[]): string | null {
  const paths = changed.filter(({ kind }) => kind === 'elsewhere' || kind === 'unloaded').map(({ path }) => path)
  return paths.length === 0 ? null : `Changed, but not planned, since this root does not load it: ${listOf(paths)}.`
}

/** What is known of the code of a plan: the changed files and blocks, the blocks of the present code, and the targets. */
interface KnownCode {
  changed: readonly ChangedFile[]
  blocks: readonly Changed[]
  present: readonly PlacedBlock[]
  targets: readonly string[]
}

const MAX_NAMED = 5

const listOf = (names: readonly string[]): string => quoteNames(names, MAX_NAMED)

/**
 * Explains why changed code changes nothing in a plan, as a sentence; null when nothing changed or the plan changes
 * something.
 */
export function explainEmptyPlan(plan: Plan, known: KnownCode): string | null {
  const { changed, blocks } = known
  if (changed.length === 0 || listChanges(plan, { text: (value) => value }).total > 0) return null
  const loadedFolders = new Set(
    changed.flatMap(({ path, kind }) => (kind === 'loaded' && isCodePath(path) ? [folderOf(path)] : [])),
  )
  const explain = createExplanation(plan, known)
  const reasons = [
    ...changed.flatMap((file) => reasonOfFile(file, blocks)),
    ...blocks
      .filter(({ folder }) => loadedFolders.has(folder))
      .map((block) => ({ name: nameOf(block), why: explain(block) })),
  ]
  const clauses = [...Map.groupBy(reasons, ({ why }) => why)].map(
    ([why, of]) => `${listOf([...new Set(of.map(({ name }) => name))])} ${why}`,
  )
  if (clauses.length === 0) return null
  const lead = changesOutputs(plan)
    ? 'The code changed, and the plan changes outputs and no resource'
    : 'The code changed, and the plan changes nothing'
  return `${lead}: ${clauses.join('; ')}.`
}

interface Reason {
  name: string
  why: string
}

const UNKNOWN = '(why it changes nothing cannot be told)'
const SAME_VALUES = 'gives no planned resource another value'

/** Explains a file; none for code with changed blocks, which are explained one by one, and for unplanned files. */
function reasonOfFile({ path, kind, isUnread }: ChangedFile, blocks: readonly Changed[]): Reason[] {
  const because = (why: string) => [{ name: path, why }]
  if (kind === 'elsewhere' || kind === 'unloaded') return []
  if (kind === 'values') return because('holds values of another environment, which this plan does not have')
  if (kind === 'lock') return because('holds versions of providers')
  if (kind === 'removed') return because('was loaded by nothing')
  if (kind === 'other') return because('is no code')
  if (kind === 'read' || isVariableFile(path)) return because(SAME_VALUES)
  if (isUnread || !isCodePath(path)) return because(UNKNOWN)
  if (blocks.some(({ folder }) => folder === folderOf(path))) return []
  return because('differs in comments, layout or the order of blocks only')
}

const nameOf = ({ kind, labels, folder }: Changed): string => {
  const own = (kind === 'resource' ? labels : [kind, ...labels]).join('.')
  return folder === '' ? own : `${own} in ${folder}`
}

/** Reasons of blocks for which an empty plan is proof enough. */
const BY_KIND: Readonly<Record<string, string>> = {
  moved: 'finds nothing to move in the state',
  removed: 'finds nothing to remove in the state',
  import: 'finds nothing left to import',
  output: 'is an output, which is no resource',
  data: 'is only read',
  ephemeral: 'is only read',
  check: 'only checks',
  terraform: 'holds settings of the engine, which change no resource by themselves',
  provider: 'holds settings of a provider, which change no resource by themselves',
}

/** Creates the explanation of changed blocks: from the addresses of the plan, its targets and the code. */
function createExplanation(plan: Plan, { present, targets }: KnownCode): (block: Changed) => string {
  const calls = present.flatMap((block) => (block.kind === 'module' ? [callOf(block.folder, block)] : []))
  const modules = modulePaths(calls)
  const addressesIn = (resources: readonly object[]) =>
    resources.flatMap((one) => ('address' in one && typeof one.address === 'string' ? [one.address] : []))
  const state = addressesIn(stateResources(plan))
  const planned = [...addressesIn(plannedResources(plan)), ...plan.resource_changes.map(({ address }) => address)]
  const isUsed = ({ kind, labels: [name], folder }: Changed) => {
    const scope = kind === 'variable' ? 'var' : 'local'
    return present.some(
      (block) =>
        block.folder === folder &&
        (block.kind !== kind || block.labels[0] !== name) &&
        block.references().some(([first, second]) => first === scope && second === name),
    )
  }
  const explainObject = ({ kind, labels, folder, arguments: given, isPresent }: Changed): string => {
    const local = kind === 'module' ? `module.${labels[0]}` : labels.slice(0, 2).join('.')
    const addresses = (modules.get(folder) ?? []).map((module) => within(module, local))
    const has = (known: readonly string[]) => addresses.some((address) => known.some((one) => covers(address, one)))
    if (addresses.length === 0) return UNKNOWN
    if (!isPresent) return has(state) ? UNKNOWN : 'was removed from the code, and the state does not have it'
    const isTargeted =
      targets.length === 0 ||
      addresses.some((one) => targets.some((target) => covers(target, one) || covers(one, target)))
    if (!isTargeted) return 'is not among the targets of the plan'
    if (!has(planned))
      return given.has('count') || given.has('for_each')
        ? 'has no instances, as its `count` or `for_each` says'
        : 'has no instances in the plan'
    if (given.has('lifecycle.ignore_changes'))
      return 'has the values of the state, or differs where `ignore_changes` says so'
    if (kind === 'module') return SAME_VALUES
    const writeOnly = [...given.keys()].filter((name) => name.endsWith('_wo'))
    if (writeOnly.length === 0) return 'has the values that the state has'
    return `has the values that the state has, ${listOf(writeOnly)} apart: no state holds a write-only argument, and the engine sends a new value only with a change of another one, such as ${listOf(writeOnly.map((name) => `${name}_version`))}`
  }
  return (block) => {
    const { kind, isPresent } = block
    const known = BY_KIND[kind]
    if (known !== undefined) return known
    if (kind === 'resource' || kind === 'module') return explainObject(block)
    if (kind !== 'variable' && kind !== 'local') return UNKNOWN
    return isPresent && isUsed(block) ? SAME_VALUES : 'is used by nothing'
  }
}
