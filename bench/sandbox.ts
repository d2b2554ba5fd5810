import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withTemporaryFolder } from '../dev/files.ts'
import { findEngine } from '../sidecars/iac/engine/find.ts'
import type { EngineCommand } from '../sidecars/iac/engine/process.ts'
import { NO_ACCESS } from '../sidecars/iac/sandbox/executor.ts'
import { openExecutor, plainExecutor } from '../sidecars/iac/sandbox/open.ts'
import { readSettings } from '../sidecars/iac/settings.ts'
import { silentLogger } from '../src/base/log.ts'
import { percentile, type Section, timed } from './lib/report.ts'

/** Files of the workspace, as many as a large configuration has: each is checked before the command starts. */
const FILES = 500

/** Measures an engine command with and without its sandbox, in turns. Without a sandbox it says so. */
export const benchSandbox = (options: { runs: number }): Promise<Section> =>
  withTemporaryFolder(async (temporary) => {
    const folder = await realpath(temporary)
    const title = `Sandbox of an engine command (${options.runs} runs, ${FILES} files)`
    const env = { PATH: process.env.PATH ?? '', HOME: folder }
    const settings = readSettings({ IAC_DATA_DIR: join(folder, 'data'), IAC_BINARY: process.env.IAC_BINARY })
    const binary = await findEngine({ binary: settings.binary, path: env.PATH, download: null })
    await mkdir(settings.dataDir)
    const opening = performance.now()
    const boxed = await openExecutor({ settings, binary, env, log: silentLogger })
    const opened = performance.now() - opening
    const { sandbox, network, limits } = boxed.boundary
    if (sandbox === 'none') return { title, figures: [], notes: ['this machine has no sandbox'] }
    const command = versionCommand(binary, await fillWorkspace(folder), folder)
    const plain = plainExecutor(settings)
    const [inside, outside] = [[] as number[], [] as number[]]
    for (let run = 0; run < options.runs; run++) {
      outside.push(await timed(() => plain.run(command, NO_ACCESS)))
      inside.push(await timed(() => boxed.run(command, NO_ACCESS)))
    }
    await boxed.close()
    const [p50, bare] = [percentile(inside, 0.5), percentile(outside, 0.5)]
    return {
      title,
      figures: [
        { name: 'version, without a sandbox, p50', value: bare, unit: 'ms' },
        { name: 'version, in the sandbox, p50', value: p50, unit: 'ms' },
        { name: 'overhead, difference of the medians', value: p50 - bare, unit: 'ms', aim: 30 },
        { name: 'ratio of the medians', value: p50 / bare, unit: 'x' },
        { name: 'start of the service: network, test of the sandbox', value: opened, unit: 'ms' },
      ],
      notes: [`network ${network}, limits by ${limits}`],
    }
  })

async function fillWorkspace(folder: string): Promise<string> {
  const workspace = join(folder, 'workspace')
  for (let index = 0; index < FILES; index++) {
    const module = join(workspace, 'modules', `m${index % 50}`)
    await mkdir(module, { recursive: true })
    await writeFile(join(module, `file${index}.tf`), '')
  }
  return workspace
}

const versionCommand = (binary: string, cwd: string, folder: string): EngineCommand => ({
  name: 'bench',
  binary,
  args: ['version'],
  cwd,
  env: { PATH: process.env.PATH, CHECKPOINT_DISABLE: '1' },
  stdout: join(folder, 'stdout'),
  stderr: join(folder, 'stderr'),
  timeoutMs: 30_000,
  graceMs: 1_000,
  maxBytes: 1024 * 1024,
  maxDiskBytes: 0,
  savesState: false,
  reachesNetwork: true,
  signal: new AbortController().signal,
  onStarted: () => {},
})
