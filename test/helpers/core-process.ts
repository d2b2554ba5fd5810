import { execFile } from 'node:child_process'
import { startLogging } from './logging-process.ts'

export interface CoreProcess {
  /** The entry `core ready`. */
  ready: { address: string; metrics?: string }
  messages(): unknown[]
  stop(): Promise<number | null>
  kill(): void
}

/** Runs the core until it exits, at most 50 s. `message` is that of its last log entry. */
export const runCore = (
  env: Record<string, string | undefined>,
  ...args: string[]
): Promise<{ code: number; message: string; out: string; err: string }> =>
  new Promise((resolve) => {
    const options = {
      env: { PATH: process.env.PATH, PLATFORM_HOST: '127.0.0.1', PLATFORM_PORT: '0', ...env },
      timeout: 50_000,
    }
    execFile(process.execPath, ['routes/main.ts', ...args], options, (error, out, err) => {
      const last = out.trim().split('\n').at(-1) ?? ''
      const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0
      resolve({ code, message: last.startsWith('{') ? JSON.parse(last).message : '', out, err })
    })
  })

/** Starts a core process without the environment of the tests, and waits until it is ready. */
export async function startCoreProcess(env: Record<string, string>): Promise<CoreProcess> {
  const core = startLogging(['routes/main.ts'], { PLATFORM_HOST: '127.0.0.1', PLATFORM_PORT: '0', ...env })
  const { address, metrics } = await core.said('core ready')
  return {
    ready: { address: String(address), ...(metrics !== undefined && { metrics: String(metrics) }) },
    messages: () => core.lines.map(({ message }) => message),
    stop: () => core.stop(),
    kill: () => core.child.kill('SIGKILL'),
  }
}
