import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startCache } from '../../../dev/cache.ts'
import { engineOnPath } from '../../helpers/engine.ts'
import type { Stack } from '../modes/stack.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export interface Started {
  child: ChildProcess
  /** Its log, one entry a line. */
  lines: Record<string, unknown>[]
  /** Resolves when the log has such an entry. */
  said(message: string): Promise<Record<string, unknown>>
}

/** Sidecar and workers of a stack as processes of their own, and an engine that can be made to wait at a gate. */
export interface Processes {
  sidecar(port?: string): Promise<Started & { url: string }>
  worker(iacUrl: string, changes?: WorkerChanges): Promise<Started>
  /**
   * The next engine with this command waits until the gate is open: `before` it does anything, or `after` it has ended.
   */
  closeGate(command: string, when?: 'before' | 'after'): Promise<void>
  /** Exists once an engine waits at the gate. */
  mark: string
  openGate(): Promise<void>
  /** Arguments of every engine that worked below a folder, in the order of their start. */
  engineCalls(folder: string): Promise<string[]>
  /** Records of the sidecar's jobs. */
  jobs_folder: string
  close(): Promise<void>
}

export interface WorkerChanges {
  modelUrl?: string
  concurrency?: number
}

export async function createProcesses(stack: Stack, engine_variables: Record<string, string> = {}): Promise<Processes> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'chaos-')))
  const children: ChildProcess[] = []
  const cache = await startCache({ token: 'cache-token-1' })
  const gate = join(folder, 'gate')
  const mark = join(folder, 'waiting')
  const calls = join(folder, 'calls')
  const binary = await waitingEngine(folder, { gate, mark, calls })
  const start = async (args: string[], env: Record<string, string>, ready: string) => {
    const started = launch(args, { PATH: process.env.PATH ?? '', HOME: folder, ...env })
    children.push(started.child)
    return { ...started, entry: await started.said(ready) }
  }
  return {
    mark,
    jobs_folder: join(folder, 'iac', 'jobs'),
    closeGate: (command, when = 'before') => writeFile(gate, `${when} ${command}`),
    openGate: () => rm(gate),
    engineCalls: async (below) => {
      const lines = (await readFile(calls, 'utf8')).split('\n').map((line) => line.split('\t'))
      return lines.flatMap(([cwd = '', line = '']) => (cwd.startsWith(below) ? [line] : []))
    },
    sidecar: async (port = '0') => {
      const env = {
        PLATFORM_PORT: port,
        PLATFORM_HOST: '127.0.0.1',
        PLATFORM_IAC_TOKEN: stack.config.services.iac.token,
        IAC_BINARY: binary,
        IAC_DATA_DIR: join(folder, 'iac'),
        IAC_STOP_GRACE_SECONDS: '0.2',
        // The engine of these tests is a script that leaves marks outside of its workspace.
        IAC_SANDBOX: 'none',
        IAC_MAX_PARALLEL: '3',
        ...engine_variables,
      }
      const { entry, ...started } = await start(['sidecars/main.ts', 'iac'], env, 'iac service ready')
      return { ...started, url: String(entry.url) }
    },
    worker: async (iacUrl, { modelUrl = 'http://127.0.0.1:1/v1', concurrency = 4 } = {}) => {
      const config = join(folder, 'platform.yaml')
      await writeFile(config, JSON.stringify(configuration(stack, iacUrl, concurrency)))
      const env = {
        PLATFORM_CONFIG: config,
        PLATFORM_SQL_DATABASE_URL: stack.database.url,
        PLATFORM_REDIS_URL: cache.platform_url,
        PLATFORM_IAC_TOKEN: stack.config.services.iac.token,
        BUNDLED_ACCESS_KEY: stack.config.storage.access_key,
        BUNDLED_SECRET_KEY: stack.config.storage.secret_key,
        GIT_USER: 'bot',
        GIT_TOKEN: stack.config.git.token,
        OPENAI_API_KEY: 'key-of-nobody',
        OPENAI_BASE_URL: modelUrl,
      }
      return await start(['pipeline/main.ts'], env, 'worker ready')
    },
    close: async () => {
      for (const child of children) child.kill('SIGKILL')
      await cache.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** By default nobody answers at the model's address: an apply is told without one. */
function configuration({ config }: Stack, iacUrl: string, concurrency: number) {
  const { endpoint_url, public_endpoint_url } = config.storage
  const { base_url, api_url, ca_file, allow_private_hosts } = config.git
  return {
    services: { iac: { endpoint: iacUrl, job_poll_interval: 0.5 } },
    paths: { upload_folder: config.paths.upload_folder, git_folder: config.paths.git_folder },
    storage: { endpoint_url, public_endpoint_url },
    llm: { model: 'openai/main-model', small_model: 'openai/small-model' },
    git: { base_url, api_url, ca_file, allow_private_hosts },
    telemetry: { collector_url: '' },
    orchestration: { enable_compliance_checker: true },
    worker: { concurrency },
  }
}

/** The real engine. The first one that the gate names says that it waits, and goes on when the gate is gone. */
async function waitingEngine(folder: string, files: { gate: string; mark: string; calls: string }): Promise<string> {
  const real = await engineOnPath()
  const path = join(folder, 'engine')
  const { gate, mark, calls } = files
  await writeFile(
    path,
    `#!/bin/sh
printf '%s\\t%s\\n' "$PWD" "$*" >> '${calls}'
at_gate() { mkdir '${mark}' 2>/dev/null && while [ -e '${gate}' ]; do sleep 0.1; done; }
gate=$(cat '${gate}' 2>/dev/null)
if [ "$gate" = "after $1" ]; then '${real}' "$@"; code=$?; at_gate; exit $code; fi
if [ "$gate" = "before $1" ]; then at_gate; fi
exec '${real}' "$@"
`,
  )
  await chmod(path, 0o755)
  return path
}

function launch(args: string[], env: Record<string, string>): Started {
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: Record<string, unknown>[] = []
  const waiting = new Set<() => void>()
  const ended = new Promise<never>((_, reject) => {
    child.once('exit', () => reject(new Error(`${args.join(' ')} ended: ${JSON.stringify(lines.slice(-5))}`)))
  })
  ended.catch(() => {})
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line))
    for (const look of waiting) look()
  })
  const said = (message: string) => {
    const heard = new Promise<Record<string, unknown>>((resolve) => {
      const look = () => {
        const line = lines.find((entry) => entry.message === message)
        if (!line) return
        waiting.delete(look)
        resolve(line)
      }
      waiting.add(look)
      look()
    })
    return Promise.race([heard, ended])
  }
  return { child, lines, said }
}
