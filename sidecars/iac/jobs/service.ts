import type { Logger } from '../../../src/base/log.ts'
import { waitUnlessAborted } from '../../../src/base/time.ts'
import {
  CANCELLED_EARLY,
  type EngineProcess,
  JobFault,
  type JobKind,
  type JobRecord,
  type JobRequest,
  SHUT_DOWN,
} from '../types.ts'
import { failureOf, isTerminal, type JobStore, lostWith, newRecord } from './store.ts'

export interface Supervision {
  signal: AbortSignal
  cancelled: AbortSignal
  onStarted: (identity: EngineProcess) => void
}

/** Runs a job and returns the exit code. The output is in the store's files by then. */
export type ExecuteJob = (job: JobRecord, request: JobRequest, options: Supervision) => Promise<number>

interface JobOptions {
  store: JobStore
  execute: ExecuteJob
  /** Ends the process that a crashed service left behind. */
  stopLeftover: (leader: EngineProcess) => Promise<void>
  maxParallel: number
  /** Jobs that may wait for one workspace. */
  maxQueued: number
  /** Milliseconds for which an ended job can be read. */
  retentionMs: number
  log: Logger
  now: () => Date
}

/** Accepts, runs and keeps jobs. `start` must have resolved before any other call. */
export class JobService {
  readonly #options: JobOptions
  readonly #records = new Map<string, JobRecord>()
  readonly #queue: ReturnType<typeof createPathQueue>
  readonly #settled = new EventTarget()
  readonly #stopping = new AbortController()
  /** The controllers of jobs that can still be cancelled while they run. */
  readonly #aborts = new Map<string, AbortController>()

  constructor(options: JobOptions) {
    this.#options = options
    this.#queue = createPathQueue(options.maxParallel)
  }

  /** Loads the jobs of an earlier process: unfinished ones fail, and their workspaces wait for the old engines. */
  async start(): Promise<void> {
    for (const record of await this.#options.store.loadAll()) {
      this.#records.set(record.job_id, record)
      if (!isTerminal(record)) this.#fail(record, lostWith(record))
      if (record.process) this.#queue.push(record.workspace_path, () => this.#stopLeftover(record.job_id))
    }
    await this.expire()
  }

  /**
   * Stores and queues a job. Resolves once the job is on disk, so that a restarted service knows it. Errors: `JobFault`
   * 503 when the service stops or too many jobs wait for the workspace.
   */
  async submit(kind: JobKind, request: JobRequest): Promise<JobRecord> {
    if (this.#stopping.signal.aborted) throw new JobFault(503, SHUT_DOWN)
    if (this.#queue.waitingFor(request.workspace_path) >= this.#options.maxQueued)
      throw new JobFault(503, 'Too many jobs wait for this workspace (IAC_MAX_QUEUED). Ask again when some have ended.')
    const record = newRecord(kind, request.workspace_path, this.#options.now())
    this.#options.store.save(record)
    this.#records.set(record.job_id, record)
    this.#queue.push(record.workspace_path, () => this.#run(record, request), record.job_id)
    return record
  }

  /** Returns the current job; null for one that is unknown or expired. */
  find(jobId: string): JobRecord | null {
    const record = this.#records.get(jobId)
    return record && !this.#isExpired(record) ? record : null
  }

  /** Cancels a job: a waiting one fails at once, a running one is interrupted. Returns the job; null as `find`. */
  cancel(jobId: string): JobRecord | null {
    const record = this.find(jobId)
    if (!record || isTerminal(record)) return record
    const { log } = this.#options
    if (this.#queue.remove(jobId)) {
      log.info('waiting job cancelled', { job_id: jobId, kind: record.kind })
      return this.#fail({ ...record, cancelled: true }, new JobFault(409, CANCELLED_EARLY))
    }
    const abort = this.#aborts.get(jobId)
    if (!abort || abort.signal.aborted) return record
    log.info('running job cancelled', { job_id: jobId, kind: record.kind })
    abort.abort()
    const interrupted = record.process && { ...record.process, interrupted: true }
    return this.#replace({ ...record, cancelled: true, process: interrupted })
  }

  /** True once the service stops, so that nothing should wait any more. */
  get isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Resolves when the job has ended, after `ms` milliseconds, or when the signal fires or the service stops. */
  async waitUntilSettled(jobId: string, ms: number, signal: AbortSignal): Promise<void> {
    const record = this.#records.get(jobId)
    if (!record || isTerminal(record)) return
    const stop = AbortSignal.any([signal, this.#stopping.signal, AbortSignal.timeout(ms)])
    const settled = new Promise((resolve) =>
      this.#settled.addEventListener(jobId, resolve, { once: true, signal: stop }),
    )
    await waitUnlessAborted(settled, stop).catch(() => undefined)
  }

  /** Interrupts the running jobs, fails the waiting ones, and resolves when none is left. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#queue.close()
    for (const record of this.#records.values())
      if (!isTerminal(record)) this.#fail(record, new JobFault(503, SHUT_DOWN))
  }

  async #run(record: JobRecord, request: JobRequest): Promise<void> {
    const { store, execute, log, now } = this.#options
    const { job_id } = record
    const abort = new AbortController()
    this.#aborts.set(job_id, abort)
    // A cancellation changes the record while the job runs.
    const latest = () => this.#records.get(job_id) ?? record
    // The engine runs already and may go on. Its record is needed only if this service crashes before its end.
    const onStarted = (identity: EngineProcess) => void this.#replace({ ...latest(), process: identity })
    try {
      const current: JobRecord = { ...latest(), status: 'running', started_at: now().toISOString() }
      this.#records.set(job_id, current)
      store.save(current)
      const supervision = { signal: this.#stopping.signal, cancelled: abort.signal, onStarted }
      const exitCode = await execute(current, request, supervision)
      // A later cancellation must not overwrite the record of the end.
      this.#aborts.delete(job_id)
      this.#finish(latest(), { status: 'succeeded', exit_code: exitCode, error: null, process: null })
    } catch (error) {
      this.#aborts.delete(job_id)
      if (!(error instanceof JobFault)) log.error('job failed', { job_id, error })
      const fault = error instanceof JobFault ? error : new JobFault(500, 'The job ended with an unexpected error.')
      const current = latest()
      // A check before the engine ends with 503 whichever of the two signals fires.
      const cause = current.cancelled && fault.status === 503 ? lostWith(current) : fault
      this.#fail({ ...current, process: null }, cause)
    }
  }

  /** Ends a left process. The record names it until then, so that the next service finds it after another crash. */
  async #stopLeftover(jobId: string): Promise<void> {
    const record = this.#records.get(jobId)
    if (!record?.process) return
    const { log, stopLeftover } = this.#options
    try {
      await stopLeftover(record.process)
      this.#replace({ ...record, process: null })
    } catch (error) {
      log.error('left-over engine process not stopped', { job_id: jobId, error })
    }
  }

  #fail(record: JobRecord, fault: JobFault): JobRecord {
    return this.#finish(record, failureOf(fault))
  }

  #finish(record: JobRecord, outcome: Partial<JobRecord>): JobRecord {
    const finished = this.#replace({ ...record, ...outcome, finished_at: this.#options.now().toISOString() })
    this.#settled.dispatchEvent(new Event(record.job_id))
    return finished
  }

  /** Replaces a record. The disk comes first: an end that a caller has seen must survive a crash. */
  #replace(record: JobRecord): JobRecord {
    const { store, log } = this.#options
    try {
      store.save(record)
    } catch (error) {
      log.error('job record not written', { job_id: record.job_id, error })
    }
    this.#records.set(record.job_id, record)
    return record
  }

  #isExpired({ finished_at }: JobRecord): boolean {
    const { now, retentionMs } = this.#options
    return finished_at !== null && now().getTime() - Date.parse(finished_at) >= retentionMs
  }

  /** Removes the jobs and files that are past their retention. */
  async expire(): Promise<void> {
    for (const record of [...this.#records.values()]) {
      if (!this.#isExpired(record)) continue
      this.#records.delete(record.job_id)
      await this.#options.store.remove(record.job_id)
    }
  }
}

interface Task {
  /** The name of the waiting task; empty for one that cannot be removed. */
  name: string
  path: string
  run: () => Promise<void>
}

/** Creates a queue that runs the tasks of one path in sequence, and those of different paths in parallel, up to a limit. */
function createPathQueue(maxParallel: number) {
  const waiting: Task[] = []
  const busy = new Set<string>()
  const running = new Set<Promise<void>>()
  let closed = false

  function schedule(): void {
    while (running.size < maxParallel) {
      const index = waiting.findIndex(({ path }) => !busy.has(path))
      const [task] = index < 0 ? [] : waiting.splice(index, 1)
      if (!task) return
      busy.add(task.path)
      const done = task.run().finally(() => {
        busy.delete(task.path)
        running.delete(done)
        schedule()
      })
      running.add(done)
    }
  }

  return {
    /** Adds a task. `run` must not reject. */
    push(path: string, run: () => Promise<void>, name = ''): void {
      if (closed) return
      waiting.push({ name, path, run })
      schedule()
    },
    waitingFor: (path: string): number => waiting.filter((task) => task.path === path).length,
    /** Removes a waiting task; returns false when it runs already or is unknown. */
    remove(name: string): boolean {
      const index = waiting.findIndex((task) => task.name === name)
      return index >= 0 && waiting.splice(index, 1).length > 0
    },
    /** Starts no further task; resolves when the running ones have ended. */
    async close(): Promise<void> {
      closed = true
      waiting.length = 0
      await Promise.all(running)
    },
  }
}
