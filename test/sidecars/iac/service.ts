import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, open, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { iacService } from '../../../sidecars/iac/main.ts'
import { type IacSettings, readSettings } from '../../../sidecars/iac/settings.ts'
import { startService } from '../../../sidecars/shared/run-service.ts'
import { createLogger } from '../../../src/base/log.ts'

export const TOKEN = 'token-of-the-service'
export const SCOPE = { scope_id: 'scope-1', engine_provider: 'aws' }

/** The JSON of an answer, compared as received. */
// biome-ignore lint/suspicious/noExplicitAny: every test states the shape it expects
export type Json = any

export interface Answer {
  status: number
  headers: Headers
  body: Json
}

export interface TestService {
  url: string
  folder: string
  log: string[]
  request(
    method: string,
    path: string,
    options?: { json?: unknown; text?: string; headers?: Record<string, string> },
  ): Promise<Answer>
  /** Submits a job, waits for its end and returns it. */
  run(path: string, body: object): Promise<Json>
  submit(path: string, body: object): Promise<string>
  finished(job_id: string): Promise<Json>
  workspace(files?: Record<string, string>): Promise<string>
  stop(): Promise<void>
  close(): Promise<void>
}

/** Starts a service in this process on a free port, until the test file has ended. `env` extends its environment. */
export async function startTestService(
  env: Record<string, string> = {},
  options: { now?: () => Date; settings?: Partial<IacSettings> } = {},
): Promise<TestService> {
  const folder = await temporaryFolder()
  const log: string[] = []
  const environment = {
    PATH: process.env.PATH,
    HOME: folder,
    PLATFORM_PORT: '0',
    PLATFORM_HOST: '127.0.0.1',
    PLATFORM_IAC_TOKEN: TOKEN,
    IAC_DATA_DIR: join(folder, 'data'),
    IAC_STOP_GRACE_SECONDS: '1',
    // Most engines of tests are scripts that use the folder of the test, which a sandbox would hide.
    IAC_SANDBOX: 'none',
    ...env,
  }
  const settings = { ...readSettings(environment), ...options.settings }
  const logger = createLogger({ write: (line) => log.push(line) })
  const { now } = options
  const service = await startService(iacService({ env: environment, fetch, ...(now ? { now } : {}) }), settings, logger)
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= service.stop().then(() => rm(folder, { recursive: true, force: true }))
    return closed
  }
  services.push(close)
  return { ...(await clientOf(service.url, folder)), log, stop: () => service.stop(), close }
}

/** Starts a service whose engine is a script (`fakeEngine`). */
export const startFakeService: typeof startTestService = async (env, options) =>
  startTestService({ IAC_BINARY: await fakeEngine(await temporaryFolder()), ...env }, options)

const services: (() => Promise<void>)[] = []
const folders: string[] = []
afterAll(async () => {
  await Promise.all(services.map((close) => close()))
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
})

/** Makes a folder that is removed when the test file has ended. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'iac-test-')))
  folders.push(folder)
  return folder
}

export async function temporaryFolderWith(files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder()
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

/** Makes the lock file of a workspace with these providers. */
export const lockFileOf = (...sources: string[]): string =>
  sources.map((source) => `provider "${source}" {\n  version = "1.0.0"\n}\n`).join('\n')

/** Makes a client of a running service; workspaces are created below `folder`. */
export async function clientOf(url: string, folder: string): Promise<Omit<TestService, 'log' | 'stop' | 'close'>> {
  const request: TestService['request'] = async (method, path, { json, text, headers } = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
      body: text ?? (json === undefined ? null : JSON.stringify(json)),
    })
    const body = await response.text()
    return { status: response.status, headers: response.headers, body: body === '' ? null : JSON.parse(body) }
  }
  const submit: TestService['submit'] = async (path, body) => {
    const answer = await request('POST', path, { json: body })
    if (answer.status !== 202) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body.job_id
  }
  const finished: TestService['finished'] = async (job_id) => {
    for (;;) {
      const { body } = await request('GET', `/v1/jobs/${job_id}`, { headers: { prefer: 'wait=30' } })
      if (body.status !== 'queued' && body.status !== 'running') return body
    }
  }
  return {
    url,
    folder,
    request,
    submit,
    finished,
    run: async (path, body) => finished(await submit(path, body)),
    workspace: async (files = {}) => {
      const path = await mkdtemp(join(folder, 'workspace-'))
      for (const [name, content] of Object.entries(files)) {
        await mkdir(join(path, name, '..'), { recursive: true })
        await writeFile(join(path, name), content)
      }
      return path
    },
  }
}

/** Writes an engine that answers `version` and otherwise runs `command.sh` of its workspace with the arguments. */
export async function fakeEngine(folder: string): Promise<string> {
  const path = join(folder, 'engine')
  await writeFile(path, '#!/bin/sh\nif [ "$1" = version ]; then echo "Fake v9.8.7"; exit 0; fi\n. ./command.sh\n')
  chmodSync(path, 0o755)
  return path
}

/** Makes a workspace with this script of the engine, and the pipes at which script and test wait for each other. */
export async function stage(service: Pick<TestService, 'workspace'>, script: string) {
  const workspace_path = await service.workspace({ 'command.sh': script })
  const [started, gate] = [pipe(join(workspace_path, 'started')), pipe(join(workspace_path, 'gate'))]
  return { workspace_path, started, gate }
}

/** Reports whether a process runs; a zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

/** Makes a named pipe. Reading waits for a writer and writing for a reader, which orders two processes. */
export function pipe(path: string): { read(): Promise<string>; write(text: string): Promise<void> } {
  execFileSync('mkfifo', [path])
  return {
    read: async () => (await readFile(path, 'utf8')).trim(),
    write: async (text) => {
      const handle = await open(path, 'w')
      await handle.writeFile(text)
      await handle.close()
    },
  }
}
