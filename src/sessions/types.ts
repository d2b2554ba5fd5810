import type { GitProvider } from '../../config/types.ts'
import type { Cloud, Mode, Operation, ReportType, Status, Turn } from '../base/vocabulary.ts'
import type { SavedPlanStatus } from '../saved-plans/plan-status.ts'
import type { AttemptDetail } from './attempts/types.ts'

/** What a run needs to know about its session. Only `is_blocked` may change while the run lasts. */
export interface SessionFacts {
  id: number
  uuid: string
  user_id: number
  /** The owner's e-mail; `user-<id>` for an owner without one. */
  username: string
  operation: Operation
  provider: Cloud
  scope_id: string
  workspace: { uri: string; branch: string; root_path: string | null }
  first_query: string
  is_blocked: boolean
  in_flight: boolean
  current_status: Status
}

/** An entry of the session lists. Timestamps here and below look like `2026-03-01T14:25:30.123456Z`, in UTC. */
export interface SessionSummary {
  uuid: string
  username: string
  operation: Operation
  provider: Cloud
  first_query: string | null
  workspace: { uri: string; branch: string; root_path: string | null }
  current_status: Status
  in_flight: boolean
  is_blocked: boolean
  created_at: string
  updated_at: string
  /**
   * US dollars of the finished rounds, only where a list was asked for it. Null when none has finished, or when the
   * cost of one is not known.
   */
  cost_usd?: number | null
}

/** `url` is presigned whenever the entry is read. `id` is that of the row in `reports`, `engine_plans` and so on. */
export interface ArtifactEntry {
  id: number
  url: string
  content_type: string | null
  file_size_bytes: number | null
  created_at: string
}
export interface PullRequest {
  provider: GitProvider
  number: number
  url: string
}
/** What a finished round used, as the worker measured it. Seconds are those of the wall clock. */
export interface RoundUsage {
  /** Time during which the round waited for at least one engine job. */
  engine_s: number
  /** Time during which at least one model call ran and no engine job did. */
  model_s: number
  input_tokens: number
  cached_tokens: number
  output_tokens: number
  /** US dollars for these tokens; null when the price of a model is not known. */
  cost_usd: number | null
  /** Attempts of all generation loops of the round. */
  validation_attempts: number
}
/** What an import preview lists, as an artifact, and how much of it is managed, not managed and left out. */
export interface PreviewEntry extends ArtifactEntry {
  counts: { managed: number; unmanaged: number; left_out: number }
}
export interface RoundDetail {
  id: number
  number: number
  query: string
  /** Not part of the contract but an addition to it, like `previews`. */
  preview: boolean
  previews: PreviewEntry[]
  statuses: { status: Status; message: string | null; created_at: string }[]
  reports: (ArtifactEntry & { type: ReportType })[]
  compliance_checks: (ArtifactEntry & { passed: boolean })[]
  /** `document_url`: the plan as data, presigned too; null where there is none. Not part of the contract. */
  plans: (ArtifactEntry & { targets: string[]; document_url: string | null })[]
  code_changes: (ArtifactEntry & { file_name: string })[]
  /** What the engine jobs of the round have written. Not part of the contract but an addition to it. */
  outputs: (ArtifactEntry & { step: string; exit_code: number | null })[]
  pull_requests: PullRequest[]
  /** An addition to the contract, as is `usage`: what each attempt of the round's generation loops came to. */
  attempts: AttemptDetail[]
  /** Not part of the contract but an addition to it. Null until the round has ended. */
  usage: RoundUsage | null
  created_at: string
}
/** All lists are in the order oldest first. `history` is null unless the caller asked for it. */
export interface SessionAggregate extends SessionSummary {
  scope_id: string
  rounds: RoundDetail[]
  history: Turn[] | null
  /** The plan that was saved last; null when none ever was. The API calls it `seal`. */
  saved_plan: SavedPlanStatus | null
}

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
