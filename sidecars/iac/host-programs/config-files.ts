import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { lstat, open, readdir, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Finding } from './findings.ts'
import { TooLarge } from './limits.ts'

export interface ConfigFile {
  /** Relative to the workspace. */
  name: string
  path: string
  isTest: boolean
}

const CONFIG_FILE = /\.(?:tf|tofu)(?:\.json)?$/
const TEST_FILE = /\.(?:tftest|tofutest)\.(?:hcl|json)$/
/** Names that the engine skips: hidden files and those of editors, such as `main.tf~`. */
const IGNORED = /^\.|~$|^#.*#$/

export const isConfigFile = (name: string): boolean => CONFIG_FILE.test(name) && !IGNORED.test(name)
const isTestFile = (name: string): boolean => TEST_FILE.test(name) && !IGNORED.test(name)

/** Lists the configuration files by name. `findings`: entries that the engine reads but that cannot be checked. */
export async function listConfigFiles(
  folder: string,
  options: { workspace: string; boundary: string; tests: boolean },
): Promise<{ files: ConfigFile[]; findings: Finding[] }> {
  const names = await readdir(folder, { encoding: 'buffer' }).catch(() => [])
  const files: ConfigFile[] = []
  const findings: Finding[] = []
  for (const bytes of names.sort(Buffer.compare)) {
    const name = bytes.toString('utf8')
    const isTest = options.tests && isTestFile(name)
    if (!isTest && !isConfigFile(name)) continue
    const path = join(folder, name)
    const file = relative(options.workspace, path)
    if (!isUtf8(bytes)) {
      const reach = 'the name is not UTF-8, so the file cannot be read for the check, while the engine reads it'
      findings.push({ file, line: 0, construct: 'a configuration file', reach })
      continue
    }
    const reach = await entryReach(path, options.boundary)
    if (reach === 'folder') continue
    if (reach === null) files.push({ name: file, path, isTest })
    else findings.push({ file, line: 0, construct: 'a configuration file', reach })
  }
  return { files, findings }
}

/** Returns the reason why an entry cannot be read for the check; null for one that can. */
async function entryReach(path: string, boundary: string): Promise<string | 'folder' | null> {
  const entry = await lstat(path).catch(() => null)
  if (entry?.isSymbolicLink()) {
    const target = await realpath(path).catch(() => null)
    if (target === null) return 'it is a link that leads nowhere'
    if (!isWithin(boundary, target)) return 'it is a link that leads out of the repository'
    return entryReach(target, boundary)
  }
  if (entry?.isDirectory()) return 'folder'
  return entry === null || entry.isFile() ? null : 'it is no regular file'
}

/** Reports whether a path is a folder or lies below it. Both are absolute. */
export const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** Reads at most `maxBytes` of text; null when it is no regular file. Errors: `TooLarge`. */
export async function readLimited(path: string, name: string, maxBytes: number, limit: string): Promise<string | null> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null)
  if (!handle) return null
  try {
    const { size, ...stat } = await handle.stat().then((entry) => ({ size: entry.size, isFile: entry.isFile() }))
    if (!stat.isFile) return null
    if (size > maxBytes) throw new TooLarge(name, limit)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
