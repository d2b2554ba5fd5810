import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstat, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { COVERS, SHARED } from './covers.ts'

const ROOT = join(import.meta.dirname, '../../..')
const FILE = 'docs/world.passed.json'

/** The last pass of a part. */
export interface Pass {
  /** A date as `2026-11-25`. */
  date: string
  form: 'whole' | 'short'
  /** The counterpart, as it said itself, with what was left out. */
  version: string
  checks: number
  /** Of the files that the part covers, as they were. */
  hash: string
}

/**
 * The hash of what a part covers: names and contents of its files, and versions of its packages.
 * @param names `COVERS` of the part
 * @throws Error when a name leads to no file, or to a package that is not pinned
 */
export async function hashFiles(names: readonly string[], root = ROOT): Promise<string> {
  const lines = await Promise.all(
    names.map((name) => (name.startsWith('npm:') ? pinOf(name, root) : filesOf(name, root))),
  )
  return createHash('sha256')
    .update([...new Set(lines.flat())].sort().join('\n'))
    .digest('hex')
    .slice(0, 16)
}

/** The hash of a part, of which the table of `covers.ts` must have a row. */
export function hashPart(part: string): Promise<string> {
  const covered = COVERS[part]
  if (!covered) throw new Error(`test/suites/world/covers.ts does not say what ${part} covers`)
  return hashFiles([...covered, ...SHARED])
}

async function pinOf(name: string, root: string): Promise<string[]> {
  const { dependencies, devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const version = { ...devDependencies, ...dependencies }[name.slice('npm:'.length)]
  if (version === undefined) throw new Error(`${name} is not in package.json`)
  return [`${name} ${version}`]
}

/** Git's list holds new files as well, and leaves out what it ignores. */
async function filesOf(name: string, root: string): Promise<string[]> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', name]
  const { stdout } = await promisify(execFile)('git', list, { cwd: root, maxBuffer: 64 * 1024 * 1024 })
  const paths = stdout.split('\0').filter(Boolean)
  const lines = await Promise.all(
    paths.map(async (path) => {
      const entry = await lstat(join(root, path)).catch(() => null)
      if (!entry?.isFile()) return []
      const content = await readFile(join(root, path))
      return [`${path} ${createHash('sha256').update(content).digest('hex')}`]
    }),
  )
  if (lines.flat().length === 0) throw new Error(`there is no ${name}`)
  return lines.flat()
}

export async function readPasses(): Promise<Record<string, Pass>> {
  const text = await readFile(join(ROOT, FILE), 'utf8').catch(() => '{}')
  return JSON.parse(text) as Record<string, Pass>
}

/** Records a pass at once, so that a run that is stopped later keeps it. */
export async function writePass(part: string, pass: Pass): Promise<void> {
  const passes = { ...(await readPasses()), [part]: pass }
  const sorted = Object.fromEntries(Object.keys(COVERS).flatMap((name) => (passes[name] ? [[name, passes[name]]] : [])))
  await writeFile(join(ROOT, FILE), `${JSON.stringify(sorted, null, 2)}\n`)
}
