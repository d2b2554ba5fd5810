import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../..')
const FOLDER = join(ROOT, 'node_modules/.cache/runtimes')
const VERSIONS = { deno: '2.9.6', bun: '1.4.5' }

export interface Runtime {
  name: string
  version: string
  command: string
  args: string[]
}

/**
 * Installs the runtimes that the core must run on. Deno and Bun go to a cache folder: as dependencies of the project
 * their platform packages would break its lock file.
 */
export async function installRuntimes(): Promise<Runtime[]> {
  const [deno, bun] = [join(FOLDER, 'node_modules/.bin/deno'), join(FOLDER, 'node_modules/.bin/bun')]
  const present = (await versionOf(deno)).includes(VERSIONS.deno) && (await versionOf(bun)).includes(VERSIONS.bun)
  if (!present) {
    await mkdir(FOLDER, { recursive: true })
    const wanted = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`)
    console.log(`installing ${wanted.join(' and ')}`)
    // Both fetch their program by a script, which the list of the project does not name.
    const flags = ['--no-save', '--no-audit', '--no-fund', '--strict-allow-scripts=false']
    await run('npm', ['install', '--prefix', FOLDER, ...flags, ...wanted], { cwd: FOLDER })
  }
  return [
    { name: 'node', version: process.versions.node, command: process.execPath, args: [] },
    { name: 'deno', version: VERSIONS.deno, command: deno, args: ['run', '-A', '--node-modules-dir=manual'] },
    { name: 'bun', version: VERSIONS.bun, command: bun, args: [] },
  ]
}

async function versionOf(command: string): Promise<string> {
  try {
    return (await run(command, ['--version'])).stdout
  } catch {
    return ''
  }
}
