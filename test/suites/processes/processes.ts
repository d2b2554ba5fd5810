import { fileURLToPath } from 'node:url'
import { type LoggingProcess, startLogging } from '../../helpers/logging-process.ts'

const FIXTURE = fileURLToPath(new URL('./fixtures/worker-process.ts', import.meta.url))
const started: LoggingProcess[] = []

export async function startWorkerProcess(url: string, ...args: string[]): Promise<LoggingProcess> {
  const worker = startLogging([FIXTURE, '--url', url, ...args], {})
  started.push(worker)
  await worker.said('worker ready')
  return worker
}

export function endWorkerProcesses(): void {
  for (const { child } of started.splice(0)) child.kill('SIGKILL')
}
