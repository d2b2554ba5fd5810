import { delay } from '../../src/base/http.ts'
import type { Masker } from '../../src/base/masking.ts'
import { cutMiddle } from '../../src/base/text.ts'
import { storeEngineOutput } from '../../src/reports/artifacts.ts'
import type { EngineResult, IacJobKind } from '../../src/services/iac/contract.ts'
import { isForPeople } from './follow-output.ts'
import type { BareRun } from './run.ts'

/** Stores the full output of engine jobs as artifacts. Steps do not wait for it, and failures are logged. */
export interface OutputArchive {
  /** Queues the output of an ended job, unless its stdout is a document. */
  keep(kind: IacJobKind, result: EngineResult): void
  /** Starts to store the queued output, masked with all secrets known so far. */
  flush(): void
  /** Stores the rest, and resolves when everything is stored or the time limit is reached. Never rejects. */
  settle(): Promise<void>
}

/** Maximum characters of a stored text. The middle is cut, because beginning and end matter most. */
const MAX_CHARS = 8 * 1024 * 1024
/** Maximum wait for the object store at the end of a round, also of an interrupted one. */
const LIMIT_MS = 20_000
const INTERRUPTED_LIMIT_MS = 2_000

interface Taken {
  kind: IacJobKind
  result: EngineResult
}

export function createOutputArchive(run: BareRun, secrets: Pick<Masker, 'text'>): OutputArchive {
  const { context, round, log } = run
  let taken: Taken[] = []
  const storing = new Set<Promise<void>>()
  // Not the signal of the run, because the output of an interrupted engine is stored as well.
  const late = new AbortController()
  const store = async ({ kind, result }: Taken): Promise<void> => {
    try {
      const text = cutMiddle(secrets.text(wholeText(result)), MAX_CHARS)
      await storeEngineOutput(context, round, { step: kind, exit_code: result.exit_code, text }, late.signal)
    } catch (error) {
      log.warn('the output of an engine job was not stored', { step: kind, error })
    }
  }
  const flush = () => {
    for (const output of taken) {
      const stored = store(output).finally(() => storing.delete(stored))
      storing.add(stored)
    }
    taken = []
  }
  return {
    keep: (kind, result) => {
      if (isForPeople(kind) && result.stdout + result.stderr !== '') taken.push({ kind, result })
    },
    flush,
    settle: async () => {
      flush()
      if (storing.size === 0) return
      const done = new AbortController()
      const limit = delay(run.signal.aborted ? INTERRUPTED_LIMIT_MS : LIMIT_MS, done.signal).catch(() => undefined)
      await Promise.race([Promise.all(storing), limit])
      done.abort()
      late.abort()
    },
  }
}

const wholeText = ({ stdout, stderr }: EngineResult): string =>
  stdout === '' || stderr === '' ? `${stdout}${stderr}` : `${stdout}${stdout.endsWith('\n') ? '' : '\n'}\n${stderr}`
