import { parseJson } from '../../base/json.ts'
import { joinPath } from '../../base/text.ts'
import { MODULE_PATH, parseTemplate, ROOT_PATH } from '../../hcl/parser.ts'
import { blocksWithin, MAX_TOKENS, readHcl } from '../../hcl/read.ts'
import type { HclCall, HclValue } from '../../hcl/tree.ts'
import { type CodeFile, isJsonCode, moduleSources } from './modules.ts'

/** What the code of a root refers to. Paths are relative to the repository, without links resolved. */
export interface UsedPaths {
  /** Folders that the engine loads: the root, then the local modules that it calls, directly or not. */
  modules: string[]
  /** Files and folders that the code of these names, existing or not; of a computed name the folder. */
  named: string[]
  /** Number of local modules that were not found or could not be followed. */
  lost: number
}

/** Limit of followed modules; far beyond real roots. */
const MAX_MODULES = 500

/**
 * Finds the modules that a root calls by a local source, and the paths that are written in their code.
 * @param root folder in the repository; empty for the repository itself
 * @param readCode returns the files of a folder that the engine loads; null when there is no such folder
 */
export async function findUsedPaths(
  root: string,
  readCode: (folder: string) => Promise<readonly CodeFile[] | null>,
): Promise<UsedPaths> {
  const modules = new Set([root])
  const named = new Set<string>()
  let lost = 0
  // A set is iterated in insertion order, so that modules added here follow later.
  for (const folder of modules) {
    const files = await readCode(folder)
    if (files === null) {
      modules.delete(folder)
      lost++
    }
    for (const file of files ?? []) {
      for (const path of pathsIn(file)) {
        const resolved = resolveNamed(path, { root, folder })
        if (resolved !== null) named.add(resolved)
      }
      for (const source of moduleSources(file)) {
        if (!/^\.\.?(\/|$)/.test(source)) continue
        const called = joinPath(folder, source)
        if (called !== null && modules.size < MAX_MODULES) modules.add(called)
        else if (called === null || !modules.has(called)) lost++
      }
    }
  }
  return { modules: [...modules], named: [...named], lost }
}

/** A written path, up to the first part that only the engine can compute. */
interface WrittenPath {
  text: string
  whole: boolean
}

/** Resolves a path, which is relative to the root unless it begins with that of the module; null outside of both. */
function resolveNamed({ text, whole }: WrittenPath, { root, folder }: { root: string; folder: string }): string | null {
  const isOfModule = text.startsWith(MODULE_PATH)
  const path = text.replace(MODULE_PATH, '').replace(ROOT_PATH, '')
  const known = whole ? path : path.slice(0, path.lastIndexOf('/') + 1)
  return known === '' || known.includes('\0') ? null : joinPath(isOfModule ? folder : root, known)
}

const MAX_PATH = 1_000

function pathsIn({ path, text }: CodeFile): WrittenPath[] {
  const { values, calls } = isJsonCode(path) ? readJsonValues(text) : readValues(text)
  return [...values, ...calls.flatMap(({ args }) => args)]
    .flatMap(stringsIn)
    .filter(({ text }) => text.length <= MAX_PATH && isPath(text))
}

const isPath = (text: string): boolean =>
  /^\.\.?\//.test(text) || [MODULE_PATH, ROOT_PATH].some((marker) => text.startsWith(`${marker}/`))

type Values = { values: HclValue[]; calls: HclCall[] }

function readValues(text: string): Values {
  const { body, calls } = readHcl(text)
  const bodies = [body, ...[...blocksWithin(body)].map((block) => block.body)]
  return { values: bodies.flatMap(({ attributes }) => attributes.map(({ value }) => value)), calls }
}

function readJsonValues(text: string): Values {
  const found: Values = { values: [], calls: [] }
  const pending: unknown[] = [parseJson(text)]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string' && next.includes('/')) {
      const { value, calls } = parseTemplate(next, 1, MAX_TOKENS)
      found.values.push(value)
      found.calls.push(...calls)
    } else if (typeof next === 'object' && next !== null) pending.push(...Object.values(next))
  }
  return found
}

function stringsIn(value: HclValue): WrittenPath[] {
  if (value.kind === 'string') return [{ text: value.value, whole: value.whole }]
  if (value.kind === 'array') return value.items.flatMap(stringsIn)
  return value.kind === 'object' ? value.entries.flatMap((entry) => stringsIn(entry.value)) : []
}
