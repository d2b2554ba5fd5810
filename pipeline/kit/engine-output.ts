import { delay } from '../../src/base/http.ts'
import type { Masker } from '../../src/base/masking.ts'
import { finish, inSlices } from '../../src/base/slices.ts'
import { cutMiddle } from '../../src/base/text.ts'
import { endsWithin } from '../../src/base/time.ts'
import { silentEventLog } from '../../src/events/event-log.ts'
import { storeEngineOutput } from '../../src/reports/artifacts.ts'
import type { EngineResult, IacJobKind } from '../../src/services/iac/contract.ts'
import type { BareRun } from './run.ts'

type WatchedRun = Pick<BareRun, 'context' | 'eventLog' | 'log'>

/** Kinds whose stdout is text. That of the others is a document with values of the plan or the state. */
const FOR_PEOPLE: readonly IacJobKind[] = ['init', 'validate', 'plan', 'apply', 'import']
const isForPeople = (kind: IacJobKind): boolean => FOR_PEOPLE.includes(kind)

/** Seconds for which the service may delay its response while the engine writes nothing. */
const WAIT_S = 10
const PAUSE_MS = 1_000
/** Consecutive failures after which the output is no longer followed and is written at the end instead. */
const MAX_MISSED = 5
/** Maximum of one stream in the event log, in characters. The whole text is an artifact. */
const MAX_CHARS = 2 * 1024 * 1024
const MAX_EVENT_CHARS = 32 * 1024
const CUT = '[The rest is left out here.]\n'

/**
 * Writes the output of a job to the round's event log while the engine runs, by lines and masked. The rest is taken
 * from the result of the job. Requests nothing when nobody can watch, and uses only the result when the service offers
 * no more. No method throws, and only the end of a long output waits: it is masked in slices.
 * @param options.follows false for output that is data, of which only the result is shown
 */
export function watchJob(
  run: WatchedRun,
  secrets: Pick<Masker, 'text'>,
  kind: IacJobKind,
  { follows = true }: { follows?: boolean } = {},
) {
  let current: ReturnType<typeof watchOneJob> | null = null
  function* end(result: EngineResult | null) {
    const ending = current
    current = null
    if (ending) yield* ending.end(result)
  }
  return {
    /** Records that the service accepted the job. A second call is for the job that replaces a lost one. */
    began: (jobId: string) => {
      finish(end(null))
      current = watchOneJob(run, secrets, { kind, jobId })
      if (follows && isForPeople(kind) && run.eventLog !== silentEventLog) void current.follow()
    },
    /** Records that the job ended; null without a result of the engine. Resolves when its output is recorded. */
    ended: (result: EngineResult | null): Promise<void> => inSlices(end(result)),
  }
}

function watchOneJob(
  run: WatchedRun,
  secrets: Pick<Masker, 'text'>,
  { kind, jobId }: { kind: IacJobKind; jobId: string },
) {
  const { eventLog, context, log } = run
  const job = { step: kind, job_id: jobId }
  const writer = (stream: 'stdout' | 'stderr') =>
    createStreamWriter((text) => eventLog.output({ type: 'lines', ...job, stream, text: secrets.text(text) }))
  const [stdout, stderr] = [writer('stdout'), writer('stderr')]
  const started = performance.now()
  const over = new AbortController()
  const { signal } = over
  eventLog.activity({ type: 'engine.began', step: kind })
  eventLog.output({ type: 'step.began', ...job })

  /** Follows the output until the job ends, the service stops offering it or the limit is reached. */
  const follow = async (): Promise<void> => {
    try {
      const from = { stdout: 0, stderr: 0 }
      for (let missed = 0; missed < MAX_MISSED && !signal.aborted; ) {
        const asked = performance.now()
        const piece = await context.iac.outputFrom?.(jobId, from, { waitSeconds: WAIT_S, signal })
        if (signal.aborted || !piece) return
        missed = piece === 'missed' ? missed + 1 : 0
        if (piece !== 'missed' && piece.stdout + piece.stderr !== '') {
          const isFull = [stdout.take(piece.stdout), stderr.take(piece.stderr)].includes(true)
          if (isFull) return
          from.stdout = piece.stdout_next
          from.stderr = piece.stderr_next
          continue
        }
        if (piece !== 'missed' && (piece.status === 'succeeded' || piece.status === 'failed')) return
        // Pauses between requests to a service that does not delay its response.
        if (performance.now() - asked < PAUSE_MS) await delay(PAUSE_MS, signal)
      }
    } catch (error) {
      if (!signal.aborted) log.info('the output of an engine job is not read along', { job_id: jobId, error })
    }
  }

  function* end(result: EngineResult | null): Generator<void, void> {
    over.abort()
    const seconds = Math.round(performance.now() - started) / 1000
    const exit_code = result?.exit_code ?? null
    if (isForPeople(kind)) yield* stdout.end(result?.stdout ?? null)
    yield* stderr.end(result?.stderr ?? null)
    eventLog.output({ type: 'step.ended', ...job, exit_code, seconds })
    eventLog.activity({ type: 'engine.ended', step: kind, exit_code, seconds })
  }
  return { follow, end }
}

/** Writes a text in whole lines; the rest may arrive at the end. */
function createStreamWriter(write: (lines: string) => void) {
  let taken = ''
  /** The length of the part of `taken` that has been written. */
  let written = 0
  let isFull = false
  function* writeLines(text: string, before = written): Generator<void, void> {
    if (isFull) return
    const left = Math.max(0, MAX_CHARS - before)
    isFull = text.length > left
    const shown = isFull ? text.slice(0, text.lastIndexOf('\n', left) + 1) : text
    for (const part of inParts(shown)) {
      write(part)
      yield
    }
    if (isFull) write(CUT)
  }
  return {
    /** Appends text. Returns true when no more should be read. */
    take: (text: string): boolean => {
      taken += text
      const end = taken.lastIndexOf('\n') + 1
      if (end > written) finish(writeLines(taken.slice(written, end)))
      written = Math.max(written, end)
      return isFull || taken.length > MAX_CHARS
    },
    /**
     * Writes the rest, in steps.
     * @param whole the complete text; null when it is unknown and the appended text is all there is
     */
    *end(whole: string | null): Generator<void, void> {
      const text = whole ?? taken
      const rest = text.slice(sharedLines(taken.slice(0, written), text))
      if (rest !== '') yield* writeLines(rest.endsWith('\n') ? rest : `${rest}\n`)
      taken = ''
    },
  }
}

/** Counts the leading characters of a text that are lines already written. An `init` may have started again. */
function sharedLines(written: string, text: string): number {
  if (text.startsWith(written)) return written.length
  let same = 0
  while (same < written.length && written[same] === text[same]) same++
  return text.lastIndexOf('\n', same - 1) + 1
}

/** Splits a text into parts of whole lines. A line that is too long stays whole. */
function* inParts(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const limit = at + MAX_EVENT_CHARS
    const last = limit >= text.length ? text.length : text.lastIndexOf('\n', limit - 1) + 1
    const end = last > at ? last : text.indexOf('\n', limit) + 1 || text.length
    yield text.slice(at, end)
    at = end
  }
}

export type OutputArchive = ReturnType<typeof createOutputArchive>

/** Maximum characters of a stored text. The middle is cut, because beginning and end matter most. */
const MAX_STORED_CHARS = 8 * 1024 * 1024
/** Maximum wait for the object store at the end of a round, also of an interrupted one. */
const LIMIT_MS = 20_000
const INTERRUPTED_LIMIT_MS = 2_000

/** Stores the full output of engine jobs as artifacts. Steps do not wait for it, and failures are logged. */
export function createOutputArchive(run: BareRun, secrets: Pick<Masker, 'textInSlices'>) {
  const { context, round, log } = run
  let queued: { kind: IacJobKind; result: EngineResult }[] = []
  const storing = new Set<Promise<void>>()
  // Not the signal of the run, because the output of an interrupted engine is stored as well.
  const late = new AbortController()
  const store = async ({ kind, result }: (typeof queued)[number]): Promise<void> => {
    try {
      const text = cutMiddle(await secrets.textInSlices(wholeText(result)), MAX_STORED_CHARS)
      await storeEngineOutput(context, round, { step: kind, exit_code: result.exit_code, text }, late.signal)
    } catch (error) {
      log.warn('the output of an engine job was not stored', { step: kind, error })
    }
  }
  const flush = () => {
    for (const output of queued) {
      const stored = store(output).finally(() => storing.delete(stored))
      storing.add(stored)
    }
    queued = []
  }
  return {
    /** Queues the output of an ended job, unless its stdout is a document. */
    keep: (kind: IacJobKind, result: EngineResult): void => {
      if (isForPeople(kind) && result.stdout + result.stderr !== '') queued.push({ kind, result })
    },
    /** Starts to store the queued output, masked with all secrets known so far. */
    flush,
    /** Stores the rest, and resolves when everything is stored or the time limit is reached. Never rejects. */
    settle: async (): Promise<void> => {
      flush()
      if (storing.size === 0) return
      await endsWithin(run.signal.aborted ? INTERRUPTED_LIMIT_MS : LIMIT_MS, Promise.all(storing))
      late.abort()
    },
  }
}

const wholeText = ({ stdout, stderr }: EngineResult): string =>
  stdout === '' || stderr === '' ? `${stdout}${stderr}` : `${stdout}${stdout.endsWith('\n') ? '' : '\n'}\n${stderr}`
