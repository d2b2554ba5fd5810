import { addressIn, traversalsIn } from '../../hcl/read.ts'
import { covers } from '../addresses.ts'
import type { CodeBlock } from './blocks.ts'
import type { Changed, PlacedBlock } from './compare.ts'
import { type ModuleCall, resolveFolder, within } from './modules.ts'

/** A value by the names of a reference to it, and the folder of the module that has it. */
interface Named {
  folder: string
  names: string[]
  /** True if the whole of it has changed, so that what uses it changes too, unless its result happens to be the same. */
  isWhole: boolean
}

export interface Traced {
  changed: readonly Changed[]
  /** Blocks of the present code. */
  present: readonly PlacedBlock[]
  calls: readonly ModuleCall[]
  /** Addresses of each loaded folder. */
  paths: ReadonlyMap<string, string[]>
  /** Addresses whose change is known. */
  known: readonly string[]
  /** Variables of the root with another value. */
  variables: Iterable<string>
}

/** Kinds of blocks that affect nothing. A variable refers to itself alone, in its rules. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['check', 'variable'])
/** What a reference begins with that no change of code affects, beside variables of the root that stay. */
const FIXED: ReadonlySet<string> = new Set(['path', 'terraform', 'var'])

/**
 * Returns the addresses that the changes affect beside the known ones; null when that cannot be told. A changed value,
 * such as a local, is followed to the blocks that use it, through other values and outputs of modules. An unchanged block
 * is affected that uses the whole of a local or of a variable. When it uses a part, or makes its instances of the value,
 * code does not know which of it is meant. What depends on a changed object does not count, since the engine says what
 * changes with it.
 */
export function traceUsers(traced: Traced): string[] | null {
  const { changed, paths, variables } = traced
  const starts: Named[] = [...variables].map((name) => ({ folder: '', names: ['var', name], isWhole: true }))
  for (const block of changed) {
    const { kind, folder, isPresent } = block
    if (!paths.has(folder)) {
      // Without a call nothing of a removed folder is left, and the call is a change itself.
      if (isPresent) return null
    } else if (kind === 'moved' || kind === 'removed' || kind === 'import') {
      if (!isPresent || sidesIn(block).includes(null)) return null
    } else if (kind === 'output' && folder === '') {
      if (isPresent && !isOfKnown(block, traced)) return null
    } else if (kind === 'output' || VALUES.has(kind)) {
      if (isPresent) starts.push(...valuesOf(block, traced))
    } else if (kind !== 'resource' && kind !== 'module' && kind !== 'check') return null
  }
  return usersOf(starts, traced)
}

const VALUES: ReadonlySet<string> = new Set(['local', 'variable', 'data', 'ephemeral'])

const sidesIn = ({ kind, arguments: given }: CodeBlock): (string | null)[] =>
  (kind === 'moved' ? ['from', 'to'] : kind === 'removed' ? ['from'] : ['to']).map((name) =>
    addressIn(given.get(name)?.code ?? ''),
  )

/** Returns what other blocks call the value of a block; for an output of a module where it is called. */
function valuesOf({ kind, labels, folder }: PlacedBlock, { calls }: Traced, isWhole = true): Named[] {
  const [name = ''] = labels
  if (kind === 'local') return [{ folder, names: ['local', name], isWhole }]
  if (kind === 'variable') return [{ folder, names: ['var', name], isWhole }]
  if (kind !== 'output') return [{ folder, names: [kind, ...labels], isWhole: false }]
  return calls
    .filter((call) => resolveFolder(call.folder, call.source) === folder)
    .map((call) => ({ folder: call.folder, names: ['module', call.name, name], isWhole: false }))
}

/** Follows values to the blocks that use them. Null when it is not known whether one of these objects is affected. */
function usersOf(starts: readonly Named[], traced: Traced): string[] | null {
  if (starts.length === 0) return []
  const users: string[] = []
  const byFolder = Map.groupBy(
    traced.present.map((block) => ({ block, references: block.references() })),
    ({ block }) => block.folder,
  )
  const queue = [...starts]
  const seen = new Set(queue.map(keyOf))
  for (let value = queue.pop(); value !== undefined; value = queue.pop()) {
    const { folder, names } = value
    for (const { block, references } of byFolder.get(folder) ?? []) {
      const uses = references.filter((reference) => agree(reference, names))
      if (WITHOUT_EFFECT.has(block.kind) || uses.length === 0) continue
      const isWhole = value.isWhole && uses.every(({ length }) => length <= names.length) && !isIndexed(block, names)
      if (block.kind === 'resource' || block.kind === 'module') {
        if (isKnown(block, traced)) continue
        if (!isWhole || makesInstancesOf(block, names)) return null
        users.push(...addressesOf(block, traced))
      } else if (block.kind === 'output' && folder === '') {
        if (!isOfKnown(block, traced)) return null
      } else if (block.kind === 'output' || VALUES.has(block.kind)) {
        for (const next of valuesOf(block, traced, isWhole)) {
          if (seen.has(keyOf(next))) continue
          seen.add(keyOf(next))
          queue.push(next)
        }
      } else return null
    }
  }
  return [...new Set(users)]
}

/** Reports whether a block uses an element of the value, which the names of a reference do not tell. */
const isIndexed = (block: CodeBlock, names: readonly string[]): boolean =>
  new RegExp(`(?<![\\w-])${names.map(escapeRegExp).join('\\s*\\.\\s*')}\\s*\\[`).test(block.meaning())

const escapeRegExp = (text: string): string => text.replaceAll(/[^\w]/g, '\\$&')

/** Reports whether the number or the keys of the instances of a block come from the value. */
const makesInstancesOf = ({ arguments: given }: CodeBlock, names: readonly string[]): boolean =>
  ['for_each', 'count'].some((name) =>
    traversalsIn(given.get(name)?.code ?? '').some((reference) => agree(reference, names)),
  )

const localAddress = ({ kind, labels }: CodeBlock): string =>
  kind === 'module' ? `module.${labels[0]}` : labels.slice(0, 2).join('.')

/** Returns the addresses by which a plan is limited to a block: its own in the root, elsewhere those of its module. */
const addressesOf = (block: PlacedBlock, { paths }: Traced): string[] =>
  (paths.get(block.folder) ?? []).map((module) => (module === '' ? localAddress(block) : module))

const keyOf = ({ folder, names }: Named): string => [folder, ...names].join('\0')

/** True if a reference is to a value, to a part of it, or to what it is a part of. */
const agree = (reference: readonly string[], names: readonly string[]): boolean =>
  names.every((name, index) => reference[index] === undefined || reference[index] === name)

/** Reports whether every address that a block has is known. */
function isKnown(block: PlacedBlock, { paths, known }: Traced): boolean {
  const local = localAddress(block)
  return (paths.get(block.folder) ?? []).every((module) => known.some((one) => covers(one, within(module, local))))
}

/** Reports whether the objects that an output of the root takes its value from are known: else no plan of these has it. */
const isOfKnown = (output: CodeBlock, { known }: Traced): boolean =>
  output
    .references()
    .every(([first = '', second = '']) => FIXED.has(first) || known.some((one) => covers(one, `${first}.${second}`)))
