import type { Status } from '../../src/base/vocabulary.ts'
import { statusUpdate } from '../../src/chains/status-update.ts'
import type { BareRun } from './run.ts'
import { askForText, type ChainKit } from './run-chain.ts'

/** Writes the status rows of a run, always in the order of the calls. */
export interface StatusWriter {
  /**
   * The small model turns `raw` into a sentence while the round goes on; the row is written when the
   * sentence is there, with `raw` itself when the call fails, answers nothing or takes too long, and
   * always before the next row.
   */
  say(status: Status, raw: string): Promise<void>
  /** Writes `message` as it is. */
  show(status: Status, message: string): Promise<void>
  /** Resolves when every row is written; to be awaited before the run ends. */
  settle(): Promise<void>
}

/** How long the next step waits for a sentence that is not there yet. */
const GRACE_MS = 1_000
/** No sentence is worth more than this. */
const MAX_MS = 30_000

export function createStatusWriter(kit: ChainKit & { run: BareRun }): StatusWriter {
  const { run, secrets } = kit
  let pending: { done: Promise<void>; hurry: AbortController } | null = null

  const settle = async () => {
    const current = pending
    if (!current) return
    pending = null
    const timer = setTimeout(() => current.hurry.abort(), GRACE_MS)
    await current.done.finally(() => clearTimeout(timer))
  }

  const say = async (status: Status, raw: string) => {
    await settle()
    const hurry = new AbortController()
    const signal = AbortSignal.any([run.signal, hurry.signal, AbortSignal.timeout(MAX_MS)])
    const done = writeSentence(kit, raw, signal).then((text) => {
      run.signal.throwIfAborted()
      return run.setStatus(status, secrets.text(text))
    })
    // A lost lease is thrown by the next `settle`; until then nobody listens.
    done.catch(() => {})
    pending = { done, hurry }
  }

  const show = async (status: Status, message: string) => {
    await settle()
    await run.setStatus(status, secrets.text(message))
  }

  return { say, show, settle }
}

/** Lets the small model write one short sentence for the user; answers the raw text when there is none. */
async function writeSentence(kit: ChainKit, raw: string, signal: AbortSignal): Promise<string> {
  try {
    const answer = askForText(kit, statusUpdate, { text: raw }, { signal })
    return (await Promise.race([answer, rejectOn(signal)])) || raw
  } catch (error) {
    if (!signal.aborted) kit.run.log.warn('a status message was not rewritten', { error })
    return raw
  }
}

/** For clients that do not listen to their signal. */
const rejectOn = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
