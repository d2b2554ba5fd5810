import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCache } from '../../../dev/cache.ts'
import { engineOnPath } from '../../helpers/engine.ts'
import { type LoggingProcess, startLogging } from '../../helpers/logging-process.ts'
import type { Stack } from '../modes/stack.ts'

/** Sidecar and workers of a stack as separate processes, and an engine that can be paused at a gate. */
export interface Processes {
  sidecar(port?: string): Promise<LoggingProcess & { url: string }>
  worker(iacUrl: string, changes?: WorkerChanges): Promise<LoggingProcess>
  /** Pauses the next engine with this command until the gate is open: `before` it begins, or `after` it has ended. */
  closeGate(command: string, when?: 'before' | 'after'): Promise<void>
  /** A file that exists once an engine is at the gate. */
  mark: string
  openGate(): Promise<void>
  /** Reads the arguments of every engine that worked below a folder, in the order of their start. */
  engineCalls(folder: string): Promise<string[]>
  /** Folder of the sidecar's job records. */
  jobs_folder: string
  close(): Promise<void>
}

export interface WorkerChanges {
  modelUrl?: string
  concurrency?: number
}

export async function createProcesses(stack: Stack, engine_variables: Record<string, string> = {}): Promise<Processes> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'chaos-')))
  const started: LoggingProcess[] = []
  const cache = await startCache({ token: 'cache-token-1' })
  const gate = join(folder, 'gate')
  const mark = join(folder, 'waiting')
  const calls = join(folder, 'calls')
  const binary = await waitingEngine(folder, { gate, mark, calls })
  const start = (args: string[], env: Record<string, string>): LoggingProcess => {
    const process = startLogging(args, { HOME: folder, ...env })
    started.push(process)
    return process
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
        // The engine of these tests is a script that leaves files outside of its workspace.
        IAC_SANDBOX: 'none',
        IAC_MAX_PARALLEL: '3',
        ...engine_variables,
      }
      const sidecar = start(['sidecars/main.ts', 'iac'], env)
      const { url } = await sidecar.said('iac service ready')
      return { ...sidecar, url: String(url) }
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
      const worker = start(['pipeline/main.ts'], env)
      await worker.said('worker ready')
      return worker
    },
    close: async () => {
      for (const { child } of started) child.kill('SIGKILL')
      await cache.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Writes a configuration. By default the model's address is dead: an apply is reported without one. */
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

/** Wraps the real engine. The first run that the gate names creates a file, and continues when the gate is gone. */
async function waitingEngine(folder: string, files: { gate: string; mark: string; calls: string }): Promise<string> {
  const real = await engineOnPath()
  const path = join(folder, 'engine')
  const { gate, mark, calls } = files
  await writeFile(
    path,
    `#!/bin/sh
printf '%s\\t%s\\n' "$PWD" "$*" >> '${calls}'
at_gate() { mkdir '${mark}' 2>/dev/null && while [ -e '${gate}' ]; do sleep 0.1; done; }
# The plan of the code before the session runs beside the round, and never waits at the gate.
case "$*" in *-lock=false*) gate= ;; *) gate=$(cat '${gate}' 2>/dev/null) ;; esac
if [ "$gate" = "after $1" ]; then '${real}' "$@"; code=$?; at_gate; exit $code; fi
if [ "$gate" = "before $1" ]; then at_gate; fi
exec '${real}' "$@"
`,
  )
  await chmod(path, 0o755)
  return path
}
