import { startLogging } from './logging-process.ts'

export interface CoreProcess {
  /** The entry `core ready`. */
  ready: { address: string; metrics?: string }
  messages(): unknown[]
  stop(): Promise<number | null>
  kill(): void
}

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
