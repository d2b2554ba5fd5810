import type { GitProvider } from '../../config/types.ts'
import type { Cloud, Mode, Operation, ReportType, Status, Turn } from '../base/vocabulary.ts'

/** What a run needs to know about its session; never changes during a run, except the lock. */
export interface SessionFacts {
  id: number
  uuid: string
  user_id: number
  /** Owner's e-mail, else `user-<id>`. */
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

/** A row of the lists. Timestamps here and below: UTC, six fraction digits, `Z`. */
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
}

/** `url` is presigned at read time; `id` is the typed row's. */
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
/** What a finished round took, as the worker measured it. Seconds are wall clock. */
export interface RoundUsage {
  /** Time during which at least one engine job of the round was waited for. */
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
export interface RoundDetail {
  id: number
  number: number
  query: string
  statuses: { status: Status; message: string | null; created_at: string }[]
  reports: (ArtifactEntry & { type: ReportType })[]
  compliance_checks: (ArtifactEntry & { passed: boolean })[]
  plans: (ArtifactEntry & { targets: string[] })[]
  code_changes: (ArtifactEntry & { file_name: string })[]
  pull_requests: PullRequest[]
  /** Addition to the contract; null until the round ended. */
  usage: RoundUsage | null
  created_at: string
}
/** All lists oldest first. `history` is null unless asked for. */
export interface SessionAggregate extends SessionSummary {
  scope_id: string
  rounds: RoundDetail[]
  history: Turn[] | null
}

export interface RoundRequest {
  mode: Mode
  query: string
  is_partial: boolean
}

/** A round that this worker holds. Every write of the run carries `fence`; a stale one writes nothing. */
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
  /** Engine jobs submitted by an earlier attempt of this round, by the key the run gave them. */
  jobs: Record<string, string>
}
