import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { close, fstat, open } from 'node:fs'
import { constants } from 'node:os'
import { promisify } from 'node:util'
import { JobFault, type ProcessIdentity, SHUT_DOWN } from '../types.ts'
import { identify, isGroupAlive, signalGroup } from './process-identity.ts'

const openFile = promisify(open)
const closeFile = promisify(close)
const fileSize = async (fd: number) => (await promisify(fstat)(fd)).size

export interface EngineCommand {
  binary: string
  args: string[]
  cwd: string
  env: Record<string, string | undefined>
  /** Output goes to files, not to pipes: an engine must not break when the service that reads the pipe is killed. */
  stdout: string
  stderr: string
  timeoutMs: number
  /** Milliseconds between the interrupt and the kill. */
  graceMs: number
  /** Largest output that is accepted, both streams together. */
  maxBytes: number
  signal: AbortSignal
  onStarted: (identity: ProcessIdentity) => void
}

const SIZE_CHECK_MS = 500
/** A killed process ends as soon as it returns from the kernel, for example from a write to a slow disk. */
const KILLED_WITHIN_MS = 5000

/**
 * Runs one command in a process group of its own and answers its exit code (128 + n after signal n).
 * Errors: `JobFault` 504 after `timeoutMs`, 503 when `signal` fires, 500 on too much output or when the program cannot
 * be started. The whole group is gone by then.
 */
export async function runEngine(command: EngineCommand): Promise<number> {
  if (command.signal.aborted) throw new JobFault(503, SHUT_DOWN)
  const out = await openFile(command.stdout, 'w', 0o600)
  const err = await openFile(command.stderr, 'w', 0o600)
  try {
    return await supervise(command, out, err)
  } finally {
    await Promise.all([closeFile(out), closeFile(err)])
  }
}

async function supervise(command: EngineCommand, out: number, err: number): Promise<number> {
  const child = spawn(command.binary, command.args, {
    cwd: command.cwd,
    env: command.env,
    detached: true,
    stdio: ['ignore', out, err],
  })
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const { pid } = child
  if (pid === undefined) {
    await exited.catch(() => undefined)
    throw new JobFault(500, 'The engine could not be started.')
  }
  const identity = identify(pid)
  command.onStarted(identity)
  let fault: JobFault | null = null
  let killer: NodeJS.Timeout | undefined
  const stop = (reason: JobFault) => {
    if (fault) return
    fault = reason
    // An interrupt is what a terminal sends: the engine saves its state and ends, and its providers ignore it.
    signalGroup(pid, 'SIGINT')
    killer = setTimeout(() => signalGroup(pid, 'SIGKILL'), command.graceMs)
  }
  const shutDown = () => stop(new JobFault(503, SHUT_DOWN))
  command.signal.addEventListener('abort', shutDown, { once: true })
  const limit = setTimeout(
    () => stop(new JobFault(504, `The engine did not finish within ${command.timeoutMs / 1000}s.`)),
    command.timeoutMs,
  )
  const exceeds = async () => (await fileSize(out)) + (await fileSize(err)) > command.maxBytes
  const sizes = setInterval(
    () =>
      exceeds().then(
        (over) => over && stop(tooMuchOutput(command.maxBytes)),
        () => undefined,
      ),
    SIZE_CHECK_MS,
  )
  try {
    const [code, by] = await exited
    if (signalGroup(pid, 'SIGKILL')) await waitForGroupEnd(identity, KILLED_WITHIN_MS)
    if (!fault && (await exceeds())) fault = tooMuchOutput(command.maxBytes)
    if (fault) throw fault
    return code ?? 128 + (by ? constants.signals[by] : 0)
  } finally {
    clearTimeout(limit)
    clearTimeout(killer)
    clearInterval(sizes)
    command.signal.removeEventListener('abort', shutDown)
  }
}

const tooMuchOutput = (maxBytes: number) => new JobFault(500, `The engine wrote more than ${maxBytes} bytes of output.`)

/**
 * Ends the process group that a crashed service left running: interrupts it, and kills it after the grace.
 */
export async function stopLeftover(leader: ProcessIdentity, graceMs: number): Promise<void> {
  if (!isGroupAlive(leader)) return
  signalGroup(leader.pid, 'SIGINT')
  if (await waitForGroupEnd(leader, graceMs)) return
  signalGroup(leader.pid, 'SIGKILL')
  await waitForGroupEnd(leader, KILLED_WITHIN_MS)
}

/**
 * True when the group is gone within `ms` milliseconds. Its members are no children of this process, which is therefore
 * not told of their end and has to look for it.
 */
async function waitForGroupEnd(leader: ProcessIdentity, ms: number): Promise<boolean> {
  const until = performance.now() + ms
  for (let pause = 5; isGroupAlive(leader); pause = Math.min(pause * 2, 100)) {
    if (performance.now() >= until) return false
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  return true
}
