import { waitUnlessAborted } from '../../src/base/time.ts'
import type { Status } from '../../src/base/vocabulary.ts'
import { statusUpdate } from '../../src/chains/status-update.ts'
import type { BareRun } from './run.ts'
import { askForText, type ChainKit } from './run-chain.ts'

/** Time that the next row waits for an unfinished sentence of the model. */
const GRACE_MS = 1_000
/** Time limit of the model for a sentence when no other row waits. */
const MAX_MS = 30_000

/** Writes the status rows of a run, always in the order of the calls. */
export function createStatusWriter(kit: ChainKit & { run: BareRun }) {
  const { run, secrets } = kit
  let pending: { done: Promise<void>; cutShort: AbortController } | null = null
  /** Sentences of the model by their raw text, because some texts recur at every attempt. */
  const sentences = new Map<string, string>()

  /** Resolves when every row is written; must be awaited before the run ends. */
  const settle = async (): Promise<void> => {
    const current = pending
    if (!current) return
    pending = null
    const timer = setTimeout(() => current.cutShort.abort(), GRACE_MS)
    await current.done.finally(() => clearTimeout(timer))
  }

  /** Lets the small model reword `raw` in the background; the row holds `raw` itself on failure or delay. */
  const say = async (status: Status, raw: string): Promise<void> => {
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
    // The next `settle` throws the error, for example `LeaseLost`; until then it must not count as unhandled.
    done.catch(() => {})
    pending = { done, cutShort }
  }

  /** Writes `message` unchanged. */
  const show = async (status: Status, message: string): Promise<void> => {
    await settle()
    await run.setStatus(status, secrets.text(message))
  }

  return { say, show, settle }
}

/** Runs a mode, then stores its status rows and output, so that the terminal status is the last row. */
export async function settleStatusAfter<T>(
  { status, outputs }: Record<'status' | 'outputs', { settle(): Promise<void> }>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } finally {
    await Promise.all([status.settle().catch(() => {}), outputs.settle()])
  }
}

/** Lets the small model write one short sentence for the user; returns the raw text when there is none. */
async function writeSentence(kit: ChainKit, raw: string, signal: AbortSignal): Promise<string> {
  try {
    const answer = askForText(kit, statusUpdate, { text: raw }, { signal })
    return (await waitUnlessAborted(answer, signal)) || raw
  } catch (error) {
    if (!signal.aborted) kit.run.log.warn('a status message was not rewritten', { error })
    return raw
  }
}
