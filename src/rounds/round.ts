import type { Mode, Turn } from '../base/vocabulary.ts'
import type { SessionFacts } from './session-facts.ts'

export interface RoundRequest {
  mode: Mode
  query: string
  is_partial: boolean
  /** Whether a drift or import round only looks: it changes neither code nor state. Absent means false. */
  preview?: boolean
  /** What an import round takes in, chosen from an import preview of the session. Null or absent: it selects itself. */
  resource_ids?: readonly string[] | null
}

/** What a write needs to know of the round that it belongs to, and of who may write. */
export interface HeldRound {
  id: number
  number: number
  mode: Mode
  preview?: boolean
  fence: number
  session: Pick<SessionFacts, 'id' | 'uuid' | 'user_id' | 'workspace'>
}

/**
 * A round that this worker has claimed. Each claim raises the session's `fence` by one and every write of a run
 * compares it, so that a worker that has lost the round to another one cannot write any more.
 */
export interface ClaimedRound extends RoundRequest {
  id: number
  number: number
  fence: number
  /** 1 for the first run of the round, more after an interruption. */
  attempt: number
  session: SessionFacts
  history: Turn[]
  /** Commit of the session branch when the last finished round ended; null before the first. */
  base_commit: string | null
  /** Heads that cancelled rounds of the session left on its branch, which nobody has reviewed. */
  abandoned_commits?: readonly string[]
  /** Engine jobs submitted by an earlier attempt of this round, by the key the run gave them. */
  jobs: Record<string, string>
}
