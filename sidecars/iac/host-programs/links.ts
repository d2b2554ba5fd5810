import { readlink, realpath } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { listEntries } from '../../../src/runtime/files.ts'
import { isWithin } from './config-files.ts'
import type { Finding } from './findings.ts'
import { LIMITS, TooLarge } from './limits.ts'

export interface LinkRules {
  workspace: string
  boundary: string
  dataFolder: string
  /** Real paths of the folders that links to installed providers may lead to. */
  providerFolders: readonly string[]
  /** Fires at the time limit of the job. */
  signal: AbortSignal
}

const OUT = 'it is a link that leads out of the repository, so the engine would read or write other files through it'
const DATA = "it is a link in the engine's own folder, so the engine would read or write other files through it"
const SHOWN = 50

/**
 * Finds links that the engine must not follow: those that lead out of the boundary, and those in its data folder, apart
 * from the ones to installed providers and inside of downloaded modules. Git's own folder is left out, because no engine
 * reads it. Errors: `TooLarge` for too many entries; the reason of the signal.
 */
export async function findLinks(rules: LinkRules): Promise<Finding[]> {
  const findings: Finding[] = []
  const waiting: Buffer[] = [Buffer.from(rules.workspace)]
  let entries = 0
  for (let folder = waiting.pop(); folder !== undefined && findings.length < SHOWN; folder = waiting.pop()) {
    rules.signal.throwIfAborted()
    const children = await listEntries(folder).catch(() => [])
    entries += children.length
    if (entries > LIMITS.entries) throw new TooLarge('.', `${LIMITS.entries} files and folders of a workspace`)
    for (const { name, kind } of children) {
      const path = Buffer.concat([folder, SLASH, name])
      if (kind.isDirectory() && !name.equals(GIT)) waiting.push(path)
      const construct = kind.isSymbolicLink() ? await judgeLink(path, rules) : null
      if (construct === null) continue
      const file = relative(rules.workspace, path.toString('utf8'))
      findings.push({ file, line: 0, construct: 'a symbolic link', reach: construct })
    }
  }
  return findings
}

const SLASH = Buffer.from('/')
const GIT = Buffer.from('.git')

async function judgeLink(path: Buffer, rules: LinkRules): Promise<string | null> {
  const name = path.toString('utf8')
  const target = await resolveLink(path)
  const { dataFolder } = rules
  if (isWithin(`${dataFolder}/providers`, name))
    return rules.providerFolders.some((folder) => isWithin(folder, target)) ? null : DATA
  if (isWithin(`${dataFolder}/modules`, name)) {
    const [module, ...below] = relative(`${dataFolder}/modules`, name).split('/')
    return below.length > 0 && isWithin(`${dataFolder}/modules/${module}`, target) ? null : DATA
  }
  if (isWithin(dataFolder, name)) return DATA
  return isWithin(rules.boundary, target) ? null : OUT
}

/** Resolves a link. A missing target counts as well, because the engine could write there. */
async function resolveLink(path: Buffer): Promise<string> {
  const real = await realpath(path).catch(() => null)
  if (real !== null) return real
  const text = await readlink(path).catch(() => '/')
  const folder = await realpath(dirname(path.toString('utf8'))).catch(() => '/')
  return resolve(folder, text)
}
