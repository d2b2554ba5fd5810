import { waitUnlessAborted } from '../../src/base/time.ts'
import type { Status } from '../../src/base/vocabulary.ts'
import { statusUpdate } from '../../src/chains/status-update.ts'
import type { BareRun } from './run.ts'
import { askForText, type ChainKit } from './run-chain.ts'

/** Time limit of the model for a sentence. The next row does not wait for it. */
const MAX_MS = 30_000

/** Writes the status rows of a run, always in the order of the calls. */
export function createStatusWriter(kit: ChainKit & { run: BareRun }) {
  const { run, secrets } = kit
  let pending: { done: Promise<void>; cutShort: AbortController } | null = null
  /** Sentences of the model by their raw text, because a phase may have the text of an earlier one. */
  const sentences = new Map<string, string>()
  /** The phases for which the model was asked. */
  const asked = new Set<Status>()

  /** Resolves when every row is written; must be awaited before the run ends. A missing sentence is not waited for. */
  const settle = async (): Promise<void> => {
    const current = pending
    pending = null
    current?.cutShort.abort()
    await current?.done
  }

  /**
   * Lets the small model put `raw`, which only a model can put into a sentence, into one in the background, once a
   * phase. The row holds `raw` itself when the model fails, was asked before, or has not answered when the next row is
   * due.
   */
  const say = async (status: Status, raw: string): Promise<void> => {
    const known = sentences.get(raw)
    if (known !== undefined || asked.has(status) || raw.trim() === '') return await show(status, known ?? raw)
    await settle()
    asked.add(status)
    const cutShort = new AbortController()
    const signal = AbortSignal.any([run.signal, cutShort.signal, AbortSignal.timeout(MAX_MS)])
    const done = writeSentence(kit, raw, signal).then((text) => {
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
    const answer = askForText(kit, statusUpdate, { text: raw, request: kit.run.round.query }, { signal })
    return (await waitUnlessAborted(answer, signal)) || raw
  } catch (error) {
    if (!signal.aborted) kit.run.log.warn('a status message was not rewritten', { error })
    return raw
  }
}
