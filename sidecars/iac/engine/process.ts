import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { close, fstat, open } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  childrenOf,
  identify,
  isGroupAlive,
  signalGroup,
  signalProcess,
} from '../../../src/runtime/process-identity.ts'
import { measureDiskUse } from '../limits/refuse.ts'
import { CANCELLED, CANCELLED_EARLY, type EngineProcess, JobFault, SHUT_DOWN } from '../types.ts'

const openFile = promisify(open)
const closeFile = promisify(close)
const fileSize = async (fd: number) => (await promisify(fstat)(fd)).size

export interface EngineCommand {
  /** A name that identifies the job among those that run. */
  name: string
  binary: string
  args: string[]
  cwd: string
  env: Record<string, string | undefined>
  /** Path of the output. A file, not a pipe: the engine must survive when the service is killed. */
  stdout: string
  stderr: string
  timeoutMs: number
  /** Milliseconds between interrupt and kill. */
  graceMs: number
  /** Limit of both output streams together, in bytes. */
  maxBytes: number
  /** Limit of the workspace and everything else that the command writes, in bytes; 0 sets none. */
  maxDiskBytes: number
  /** True for a command that writes state, which is interrupted rather than killed. */
  savesState: boolean
  /** False for a command that needs no network, and gets none where a sandbox can keep it away. */
  reachesNetwork: boolean
  signal: AbortSignal
  /** Fires on cancel. A command that saves state then ends by itself and is not killed. */
  cancelled?: AbortSignal
  onStarted: (identity: EngineProcess) => void
}

/** The start of a command, directly or through the programs that build its sandbox. */
interface Launch {
  /** The program to start and its arguments. */
  command: readonly string[]
  env: Record<string, string | undefined>
  /** True if the engine is the only child of the started process. */
  isBoxed: boolean
  /** Folders whose size counts towards `maxDiskBytes`; the workspace when absent. */
  growing?: readonly string[]
}

/** Longest time until a killed process ends: it must first return from the kernel, for example from a slow write. */
const KILLED_WITHIN_MS = 5000

/**
 * Runs a command in its own process group and returns its exit code (128 + n after signal n). Errors: `JobFault` 504
 * after `timeoutMs`, 503 when `signal` fires, 409 on cancel without a result, 500 on too much output or disk.
 */
export async function runEngine(command: EngineCommand, launch: Launch): Promise<number> {
  if (command.signal.aborted) throw new JobFault(503, SHUT_DOWN)
  const out = await openFile(command.stdout, 'w', 0o600)
  const err = await openFile(command.stderr, 'w', 0o600)
  try {
    return await supervise(command, launch, out, err)
  } finally {
    await Promise.all([closeFile(out), closeFile(err)])
  }
}

async function supervise(command: EngineCommand, launch: Launch, out: number, err: number): Promise<number> {
  if (command.cancelled?.aborted) throw new JobFault(409, CANCELLED_EARLY)
  const [program = '', ...args] = launch.command
  const child = spawn(program, args, {
    cwd: launch.isBoxed ? '/' : command.cwd,
    env: launch.env,
    detached: true,
    stdio: ['ignore', out, err],
  })
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const { pid } = child
  if (pid === undefined) {
    await exited.catch(() => undefined)
    throw new JobFault(500, 'The engine could not be started.')
  }
  const identity = { ...identify(pid), ...(launch.isBoxed && command.savesState ? { interrupts_itself: true } : {}) }
  command.onStarted(identity)
  const brake = createBrake(pid, launch.isBoxed, command)
  const ended = new AbortController()
  const whileRunning = { once: true, signal: ended.signal }
  command.signal.addEventListener('abort', () => brake.stop(new JobFault(503, SHUT_DOWN)), whileRunning)
  command.cancelled?.addEventListener('abort', () => brake.cancel(), whileRunning)
  const limit = setTimeout(
    () => brake.stop(new JobFault(504, `The engine did not finish within ${command.timeoutMs / 1000}s.`)),
    command.timeoutMs,
  )
  const isOver = async () => (await fileSize(out)) + (await fileSize(err)) > command.maxBytes
  void watch(command, launch, isOver, brake.stop, ended.signal)
  try {
    const [code, by] = await exited
    if (signalGroup(pid, 'SIGKILL')) await waitForGroupEnd(identity, KILLED_WITHIN_MS)
    if (!brake.fault && (await isOver())) brake.fault = tooMuchOutput(command.maxBytes)
    if (brake.fault) throw brake.fault
    return code ?? 128 + (by ? constants.signals[by] : 0)
  } finally {
    clearTimeout(limit)
    brake.release()
    ended.abort()
  }
}

/** Creates what ends a running command. It interrupts the engine only once: a second time makes it end without saving. */
function createBrake(pid: number, isBoxed: boolean, { graceMs, savesState }: EngineCommand) {
  let killer: NodeJS.Timeout | undefined
  let isInterrupted = false
  const kill = () => signalGroup(pid, 'SIGKILL')
  /** Interrupts the whole group, as a terminal does: the engine saves its state, its providers ignore it. */
  const interruptOnce = () => {
    if (!isInterrupted) interrupt(pid, isBoxed)
    isInterrupted = true
  }
  const brake = {
    /** The reason why the command has no result, once that is certain. */
    fault: null as JobFault | null,
    /** Interrupts the command, and kills it after the grace period. */
    stop(reason: JobFault): void {
      if (brake.fault) return
      brake.fault = reason
      interruptOnce()
      killer ??= setTimeout(kill, graceMs)
    },
    /** Interrupts the command, which then ends with a result; kills one that does not and has no state to save. */
    cancel(): void {
      if (brake.fault) return
      interruptOnce()
      if (savesState) return
      killer ??= setTimeout(() => {
        brake.fault ??= new JobFault(409, CANCELLED)
        kill()
      }, graceMs)
    },
    release: () => clearTimeout(killer),
  }
  return brake
}

/** Interrupts the engine alone in a sandbox, because the process around it would die and end the engine too. */
function interrupt(pid: number, isBoxed: boolean): void {
  const engines = isBoxed ? childrenOf(pid) : []
  if (engines.length === 0) signalGroup(pid, 'SIGINT')
  for (const engine of engines) signalProcess(engine, 'SIGINT')
}

/** Checks the size of output and disk, every half second until a command has ended. */
async function watch(
  { maxBytes, maxDiskBytes, cwd }: EngineCommand,
  { growing = [cwd] }: Launch,
  isOver: () => Promise<boolean>,
  stop: (reason: JobFault) => void,
  ended: AbortSignal,
): Promise<void> {
  const mib = Math.round(maxDiskBytes / 1024 ** 2)
  const tooMuchDisk = `The engine used more than ${mib} MiB of disk in its workspace (IAC_MAX_WORKSPACE_MIB).`
  let measureAfter = 0
  const look = async () => {
    if (await isOver()) stop(tooMuchOutput(maxBytes))
    if (maxDiskBytes === 0 || performance.now() < measureAfter) return
    const started = performance.now()
    const used = await Promise.all(growing.map((folder) => measureDiskUse(folder, maxDiskBytes)))
    if (used.reduce((sum, each) => sum + each, 0) > maxDiskBytes) stop(new JobFault(500, tooMuchDisk))
    // Measurements take a tenth of the time at most.
    measureAfter = performance.now() + (performance.now() - started) * 10
  }
  for (;;) {
    await delay(500, null, { signal: ended }).catch(() => undefined)
    if (ended.aborted) return
    await look().catch(() => undefined)
  }
}

const tooMuchOutput = (maxBytes: number) => new JobFault(500, `The engine wrote more than ${maxBytes} bytes of output.`)

/** Interrupts the process group that a crashed service left behind, and kills it after the grace period. */
export async function stopLeftover(leader: EngineProcess, graceMs: number): Promise<void> {
  if (!isGroupAlive(leader)) return
  // A second interrupt, after the one at the death of its service, would end the engine without saving.
  if (!leader.interrupts_itself && !leader.interrupted) signalGroup(leader.pid, 'SIGINT')
  if (await waitForGroupEnd(leader, graceMs)) return
  signalGroup(leader.pid, 'SIGKILL')
  await waitForGroupEnd(leader, KILLED_WITHIN_MS)
}

/** Reports whether the group ends within `ms` milliseconds. Polls, as its members are no child processes. */
async function waitForGroupEnd(leader: EngineProcess, ms: number): Promise<boolean> {
  const until = performance.now() + ms
  for (let pause = 5; isGroupAlive(leader); pause = Math.min(pause * 2, 100)) {
    if (performance.now() >= until) return false
    await delay(pause)
  }
  return true
}
