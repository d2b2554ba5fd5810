import type { Logger } from '../../../src/base/log.ts'
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
      if (!isTerminal(record)) await this.#fail(record, lostWith(record))
      if (record.process) this.#queue.push(record.workspace_path, () => this.#stopLeftover(record.job_id))
    }
    await this.expire()
  }

  /** Stores and queues a job. Resolves once the job is on disk, so that a restarted service knows it. */
  async submit(kind: JobKind, request: JobRequest): Promise<JobRecord> {
    if (this.#stopping.signal.aborted) throw new JobFault(503, SHUT_DOWN)
    const record = newRecord(kind, request.workspace_path, this.#options.now())
    await this.#options.store.save(record)
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
      return this.#failNow({ ...record, cancelled: true }, new JobFault(409, CANCELLED_EARLY))
    }
    const abort = this.#aborts.get(jobId)
    if (!abort || abort.signal.aborted) return record
    log.info('running job cancelled', { job_id: jobId, kind: record.kind })
    abort.abort()
    const interrupted = record.process && { ...record.process, interrupted: true }
    return this.#replaceNow({ ...record, cancelled: true, process: interrupted })
  }

  /** True once the service stops, so that nothing should wait any more. */
  get isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Resolves when the job has ended, after `ms` milliseconds, or when the signal fires or the service stops. */
  waitUntilSettled(jobId: string, ms: number, signal: AbortSignal): Promise<void> {
    const record = this.#records.get(jobId)
    const stop = AbortSignal.any([signal, this.#stopping.signal])
    if (!record || isTerminal(record) || stop.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        this.#settled.removeEventListener(jobId, end)
        stop.removeEventListener('abort', end)
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(end, ms)
      this.#settled.addEventListener(jobId, end)
      stop.addEventListener('abort', end)
    })
  }

  /** Interrupts the running jobs, fails the waiting ones, and resolves when none is left. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#queue.close()
    for (const record of this.#records.values())
      if (!isTerminal(record)) await this.#fail(record, new JobFault(503, SHUT_DOWN))
  }

  async #run(record: JobRecord, request: JobRequest): Promise<void> {
    const { store, execute, log, now } = this.#options
    const { job_id } = record
    const abort = new AbortController()
    this.#aborts.set(job_id, abort)
    // A cancellation changes the record while the job runs.
    const latest = () => this.#records.get(job_id) ?? record
    const update = (change: Partial<JobRecord>) => {
      const next = { ...latest(), ...change }
      this.#records.set(job_id, next)
      store.saveNow(next)
      return next
    }
    const onStarted = (identity: EngineProcess) => {
      try {
        update({ process: identity })
      } catch (error) {
        // The engine runs already and may go on. Its record is needed only if this service crashes before its end.
        log.error('job record not written', { job_id, error })
      }
    }
    try {
      const current = update({ status: 'running', started_at: now().toISOString() })
      const supervision = { signal: this.#stopping.signal, cancelled: abort.signal, onStarted }
      const exitCode = await execute(current, request, supervision)
      // A later cancellation must not overwrite the record of the end.
      this.#aborts.delete(job_id)
      await this.#finish(latest(), { status: 'succeeded', exit_code: exitCode, error: null, process: null })
    } catch (error) {
      this.#aborts.delete(job_id)
      if (!(error instanceof JobFault)) log.error('job failed', { job_id, error })
      const fault = error instanceof JobFault ? error : new JobFault(500, 'The job ended with an unexpected error.')
      const current = latest()
      // A check before the engine ends with 503 whichever of the two signals fires.
      await this.#fail(
        { ...current, process: null },
        current.cancelled && fault.status === 503 ? lostWith(current) : fault,
      )
    }
  }

  /** Ends a left process. The record names it until then, so that the next service finds it after another crash. */
  async #stopLeftover(jobId: string): Promise<void> {
    const record = this.#records.get(jobId)
    if (!record?.process) return
    const { log, store, stopLeftover } = this.#options
    try {
      await stopLeftover(record.process)
      const stopped = { ...record, process: null }
      this.#records.set(jobId, stopped)
      await store.save(stopped)
    } catch (error) {
      log.error('left-over engine process not stopped', { job_id: jobId, error })
    }
  }

  #fail(record: JobRecord, fault: JobFault): Promise<void> {
    return this.#finish(record, failureOf(fault))
  }

  /** Fails the job synchronously, so that nothing can happen to it in between. */
  #failNow(record: JobRecord, fault: JobFault): JobRecord {
    const finished = { ...record, ...failureOf(fault), finished_at: this.#options.now().toISOString() }
    this.#replaceNow(finished)
    this.#settled.dispatchEvent(new Event(record.job_id))
    return finished
  }

  #replaceNow(record: JobRecord): JobRecord {
    try {
      this.#options.store.saveNow(record)
    } catch (error) {
      this.#options.log.error('job record not written', { job_id: record.job_id, error })
    }
    this.#records.set(record.job_id, record)
    return record
  }

  async #finish(record: JobRecord, outcome: Partial<JobRecord>): Promise<void> {
    const { store, log, now } = this.#options
    const finished = { ...record, ...outcome, finished_at: now().toISOString() }
    // The disk comes first: an end that a caller has seen must survive a crash.
    await store.save(finished).catch((error) => log.error('job record not written', { job_id: record.job_id, error }))
    this.#records.set(record.job_id, finished)
    this.#settled.dispatchEvent(new Event(record.job_id))
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
