import { waitUnlessAborted } from '../../src/base/time.ts'
import type { Status } from '../../src/base/vocabulary.ts'
import { statusUpdate } from '../../src/chains/status-update.ts'
import type { OutputArchive } from './output-archive.ts'
import type { BareRun } from './run.ts'
import { askForText, type ChainKit } from './run-chain.ts'

/** Writes the status rows of a run, always in the order of the calls. */
export interface StatusWriter {
  /**
   * Asks the small model to turn `raw` into a sentence for the user, and writes the row when the sentence is there.
   * The round goes on meanwhile. The row is written with `raw` itself when the call fails, answers nothing or takes
   * too long. Rows are always written in the order of the calls.
   */
  say(status: Status, raw: string): Promise<void>
  /** Writes `message` as it is. */
  show(status: Status, message: string): Promise<void>
  /** Resolves when every row is written; to be awaited before the run ends. */
  settle(): Promise<void>
}

/** Time that the next row waits for a sentence that the model has not finished. */
const GRACE_MS = 1_000
/** Time that the model may take for a sentence when no other row waits. */
const MAX_MS = 30_000

export function createStatusWriter(kit: ChainKit & { run: BareRun }): StatusWriter {
  const { run, secrets } = kit
  let pending: { done: Promise<void>; cutShort: AbortController } | null = null
  /** Sentences of the model by what they were made from, since some texts come again at every attempt. */
  const sentences = new Map<string, string>()

  const settle = async () => {
    const current = pending
    if (!current) return
    pending = null
    const timer = setTimeout(() => current.cutShort.abort(), GRACE_MS)
    await current.done.finally(() => clearTimeout(timer))
  }

  const say = async (status: Status, raw: string) => {
    await settle()
    const cutShort = new AbortController()
    const signal = AbortSignal.any([run.signal, cutShort.signal, AbortSignal.timeout(MAX_MS)])
    const known = sentences.get(raw)
    const sentence = known === undefined ? writeSentence(kit, raw, signal) : Promise.resolve(known)
    const done = sentence.then((text) => {
      run.signal.throwIfAborted()
      if (text !== raw) sentences.set(raw, text)
      return run.setStatus(status, secrets.text(text))
    })
    // The next `settle` throws the error, for example a lost lease. Without this line it would be unhandled until then.
    done.catch(() => {})
    pending = { done, cutShort: cutShort }
  }

  const show = async (status: Status, message: string) => {
    await settle()
    await run.setStatus(status, secrets.text(message))
  }

  return { say, show, settle }
}

/**
 * Does the work of a mode and then waits until its status rows are written and the output of its jobs is
 * stored. The terminal status is written after the
 * mode has returned and has to be the last row, also when the work fails. A row that could not be written does not
 * change how the work ended.
 */
export async function settleStatusAfter<T>(
  { status, outputs }: { status: Pick<StatusWriter, 'settle'>; outputs: Pick<OutputArchive, 'settle'> },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } finally {
    await Promise.all([status.settle().catch(() => {}), outputs.settle()])
  }
}

/** Lets the small model write one short sentence for the user; answers the raw text when there is none. */
async function writeSentence(kit: ChainKit, raw: string, signal: AbortSignal): Promise<string> {
  try {
    const answer = askForText(kit, statusUpdate, { text: raw }, { signal })
    return (await waitUnlessAborted(answer, signal)) || raw
  } catch (error) {
    if (!signal.aborted) kit.run.log.warn('a status message was not rewritten', { error })
    return raw
  }
}
