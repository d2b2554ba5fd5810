import { execFile } from 'node:child_process'
import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startBundled } from '../contracts/conformance/bundled.ts'
import { withTemporaryFolder } from '../dev/files.ts'
import { MIRRORED, type ProviderMirror, startProviderMirror } from '../dev/provider-mirror.ts'
import { findEngine, PLATFORM } from '../sidecars/iac/engine/find.ts'
import { measureDiskUse } from '../sidecars/iac/limits/refuse.ts'
import { silentLogger } from '../src/base/log.ts'
import { createIacClient } from '../src/services/iac/client.ts'
import { type Section, timed } from './lib/report.ts'

const TOKEN = 'token-of-the-bench'
const AT_ONCE = 4
const MB = 1e6

/**
 * Measures `init` with a large provider from a mirror over HTTP: the first workspace, a second one, and four at once that
 * find nothing in the cache; and the bytes that the mirror sends for them.
 */
export const benchProviders = (options: { megabytes: number }): Promise<Section> =>
  withTemporaryFolder(async (temporary) => {
    const folder = await realpath(temporary)
    const binary = await findEngine({
      binary: process.env.IAC_BINARY ?? '',
      path: process.env.PATH ?? '',
      download: null,
    })
    await mkdir(join(folder, 'mirror'))
    const mirror = await startProviderMirror({
      folder: join(folder, 'mirror'),
      bytes: options.megabytes * MB,
      platform: PLATFORM,
    })
    const workspace = (name: string) => createWorkspace(join(folder, name))
    const share = () => mirror.take().sent / mirror.size
    try {
      const handMs = await byHand(binary, mirror, folder, await workspace('hand'))
      mirror.take()
      const alone = await withService({ mirror, binary, folder, data: 'data' }, async (init) => {
        const firstMs = await timed(async () => init(await workspace('first')))
        const first = share()
        const secondMs = await timed(async () => init(await workspace('second')))
        return { firstMs, first, secondMs, second: share() }
      })
      const together = await withService({ mirror, binary, folder, data: 'other' }, async (init) => {
        const names = Array.from({ length: AT_ONCE }, (_, index) => `at-once-${index}`)
        const ms = await timed(() => Promise.all(names.map(async (name) => init(await workspace(name)))))
        const used = await Promise.all(
          [...names, 'other/plugins'].map((name) => measureDiskUse(join(folder, name), Number.POSITIVE_INFINITY)),
        )
        return { ms, sent: share(), disk: used.reduce((sum, each) => sum + each, 0) / (options.megabytes * MB) }
      })
      return {
        title: `Providers of ${options.megabytes} MB from a mirror over HTTP`,
        figures: [
          { name: 'init by hand, without a cache', value: handMs / 1000, unit: 's' },
          { name: 'first init', value: alone.firstMs / 1000, unit: 's' },
          { name: 'first init, downloads', value: alone.first, unit: 'x', aim: 1.01 },
          { name: 'init of another workspace', value: alone.secondMs / 1000, unit: 's' },
          { name: 'init of another workspace, downloads', value: alone.second, unit: 'x', aim: 0 },
          { name: `${AT_ONCE} inits at once, nothing in the cache`, value: together.ms / 1000, unit: 's' },
          { name: `${AT_ONCE} inits at once, downloads`, value: together.sent, unit: 'x', aim: 1.01 },
          { name: `${AT_ONCE} inits at once, copies on the disk`, value: together.disk, unit: 'x', aim: 1.01 },
        ],
        notes: ['Downloads: bytes that the mirror sent, to the size of the archive. No workspace has a lock file.'],
      }
    } finally {
      await mirror.close()
    }
  })

async function createWorkspace(path: string): Promise<string> {
  await mkdir(path, { mode: 0o700 })
  const { source, version } = MIRRORED
  const required = `    sample = {\n      source = "${source}"\n      version = "${version}"\n    }\n`
  await writeFile(join(path, 'main.tf'), `terraform {\n  required_providers {\n${required}  }\n}\n`)
  return path
}

const engineVariables = (mirror: ProviderMirror) => ({
  TF_CLI_CONFIG_FILE: mirror.config_file,
  SSL_CERT_FILE: mirror.ca_file,
})

async function byHand(binary: string, mirror: ProviderMirror, home: string, cwd: string): Promise<number> {
  const env = { ...process.env, ...engineVariables(mirror), HOME: home, CHECKPOINT_DISABLE: '1' }
  return await timed(() => promisify(execFile)(binary, ['init', '-no-color', '-input=false'], { cwd, env }))
}

interface ServiceOptions {
  mirror: ProviderMirror
  binary: string
  folder: string
  /** Name of a data folder of its own, whose plugin cache is empty. */
  data: string
}

/** Runs `work` with a new service. `init` throws what the engine says when it fails. */
async function withService<T>(
  { mirror, binary, folder, data }: ServiceOptions,
  work: (init: (workspace: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const service = await startBundled('iac', {
    ...engineVariables(mirror),
    PLATFORM_IAC_TOKEN: TOKEN,
    IAC_DATA_DIR: join(folder, data),
    IAC_WORKSPACE_ROOT: folder,
    IAC_BINARY: binary,
    IAC_MAX_PARALLEL: String(AT_ONCE),
    IAC_EGRESS_ALLOW: new URL(mirror.url).host,
  })
  const config = { endpoint: service.url, token: TOKEN, token_env: '', timeout: 30, job_poll_interval: 5 }
  const iac = createIacClient({ ...config, job_timeout: 1800 }, { fetch, log: silentLogger })
  try {
    return await work(async (workspace_path) => {
      const result = await iac.run('init', { workspace_path, scope_id: 'bench', engine_provider: 'aws' })
      if (result.exit_code !== 0) throw new Error(`init failed: ${result.stderr}`)
    })
  } finally {
    await service.close()
  }
}
