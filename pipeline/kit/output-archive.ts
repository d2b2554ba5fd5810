import { delay } from '../../src/base/http.ts'
import type { Masker } from '../../src/base/masking.ts'
import { cutMiddle } from '../../src/base/text.ts'
import { storeEngineOutput } from '../../src/reports/artifacts.ts'
import type { EngineResult, IacJobKind } from '../../src/services/iac/contract.ts'
import { isForPeople } from './follow-output.ts'
import type { BareRun } from './run.ts'

/** Stores the whole texts of the engine jobs of a round as artifacts. No step waits for it, no round fails. */
export interface OutputArchive {
  /** Takes the output of a job that has ended; nothing of one whose stdout is a document. */
  keep(kind: IacJobKind, result: EngineResult): void
  /** Begins to store what was taken, masked with all that is known to be secret by now. */
  flush(): void
  /** Stores the rest, and resolves when everything is stored or the time for that is over. Never rejects. */
  settle(): Promise<void>
}

/** Longest text that is stored. The middle is cut: the beginning and the end say the most. */
const MAX_CHARS = 8 * 1024 * 1024
/** Time that the end of a round waits for the object store, and that of an interrupted round. */
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
  // Not the signal of the run: what an interrupted engine has written is kept as well.
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
