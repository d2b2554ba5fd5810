import { addressIn } from '../../hcl/read.ts'
import { covers } from '../addresses.ts'
import type { CodeBlock } from './blocks.ts'
import type { Changed, PlacedBlock } from './compare.ts'
import { type ModuleCall, resolveFolder, within } from './modules.ts'

/** A value by the names of a reference to it, and the folder of the module that has it. */
interface Named {
  folder: string
  names: string[]
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
 * Reports whether the known addresses are all that the changes affect. A changed value, such as a local, is followed to
 * the blocks that use it, through other values and outputs of modules. What depends on a changed object does not count,
 * since the engine says what changes with it.
 */
export function isTraced(traced: Traced): boolean {
  const { changed, paths, variables } = traced
  const starts: Named[] = [...variables].map((name) => ({ folder: '', names: ['var', name] }))
  for (const block of changed) {
    const { kind, folder, isPresent } = block
    if (!paths.has(folder)) {
      // Without a call nothing of a removed folder is left, and the call is a change itself.
      if (isPresent) return false
    } else if (kind === 'moved' || kind === 'removed' || kind === 'import') {
      if (!isPresent || sidesIn(block).includes(null)) return false
    } else if (kind === 'output' && folder === '') {
      if (isPresent && !isOfKnown(block, traced)) return false
    } else if (kind === 'output' || VALUES.has(kind)) {
      if (isPresent) starts.push(...valuesOf(block, traced))
    } else if (kind !== 'resource' && kind !== 'module' && kind !== 'check') return false
  }
  return usesAreKnown(starts, traced)
}

const VALUES: ReadonlySet<string> = new Set(['local', 'variable', 'data', 'ephemeral'])

const sidesIn = ({ kind, arguments: given }: CodeBlock): (string | null)[] =>
  (kind === 'moved' ? ['from', 'to'] : kind === 'removed' ? ['from'] : ['to']).map((name) =>
    addressIn(given.get(name)?.code ?? ''),
  )

/** Returns what other blocks call the value of a block; for an output of a module where it is called. */
function valuesOf({ kind, labels, folder }: PlacedBlock, { calls }: Traced): Named[] {
  const [name = ''] = labels
  if (kind === 'local') return [{ folder, names: ['local', name] }]
  if (kind === 'variable') return [{ folder, names: ['var', name] }]
  if (kind !== 'output') return [{ folder, names: [kind, ...labels] }]
  return calls
    .filter((call) => resolveFolder(call.folder, call.source) === folder)
    .map((call) => ({ folder: call.folder, names: ['module', call.name, name] }))
}

/** Follows values to the blocks that use them. False when one of these is an object with another address. */
function usesAreKnown(starts: readonly Named[], traced: Traced): boolean {
  if (starts.length === 0) return true
  const byFolder = Map.groupBy(
    traced.present.map((block) => ({ block, references: block.references() })),
    ({ block }) => block.folder,
  )
  const queue = [...starts]
  const seen = new Set(queue.map(keyOf))
  for (let value = queue.pop(); value !== undefined; value = queue.pop()) {
    const { folder, names } = value
    for (const { block, references } of byFolder.get(folder) ?? []) {
      if (WITHOUT_EFFECT.has(block.kind) || !references.some((reference) => agree(reference, names))) continue
      if (block.kind === 'resource' || block.kind === 'module') {
        if (!isKnown(block, traced)) return false
      } else if (block.kind === 'output' && folder === '') {
        if (!isOfKnown(block, traced)) return false
      } else if (block.kind === 'output' || VALUES.has(block.kind)) {
        for (const next of valuesOf(block, traced)) {
          if (seen.has(keyOf(next))) continue
          seen.add(keyOf(next))
          queue.push(next)
        }
      } else return false
    }
  }
  return true
}

const keyOf = ({ folder, names }: Named): string => [folder, ...names].join('\0')

/** True if a reference is to a value, to a part of it, or to what it is a part of. */
const agree = (reference: readonly string[], names: readonly string[]): boolean =>
  names.every((name, index) => reference[index] === undefined || reference[index] === name)

/** Reports whether every address that a block has is known. */
function isKnown({ kind, labels, folder }: PlacedBlock, { paths, known }: Traced): boolean {
  const local = kind === 'module' ? `module.${labels[0]}` : labels.slice(0, 2).join('.')
  return (paths.get(folder) ?? []).every((module) => known.some((one) => covers(one, within(module, local))))
}

/** Reports whether the objects that an output of the root takes its value from are known: else no plan of these has it. */
const isOfKnown = (output: CodeBlock, { known }: Traced): boolean =>
  output
    .references()
    .every(([first = '', second = '']) => FIXED.has(first) || known.some((one) => covers(one, `${first}.${second}`)))
