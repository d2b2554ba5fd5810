import type { GitProvider } from '../../config/types.ts'
import type { ReportType, Status, Turn } from '../base/vocabulary.ts'
import type { AttemptDetail, AttemptSpending } from '../rounds/attempts.ts'
import type { SessionFacts } from '../rounds/round.ts'
import type { SavedPlanStatus } from '../saved-plans/plan-status.ts'

/** An entry of the session lists. Timestamps here and below look like `2026-03-01T14:25:30.123456Z`, in UTC. */
export interface SessionSummary extends Omit<SessionFacts, 'id' | 'user_id' | 'scope_id' | 'first_query'> {
  first_query: string | null
  created_at: string
  updated_at: string
  /** US dollars of the finished rounds, on request only. Null when none has finished or a cost is unknown. */
  cost_usd?: number | null
}

/** `url` is presigned at each read. `id` is that of the row in `reports`, `engine_plans` and so on. */
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
/** The usage of a finished round, as the worker measured it, in wall-clock seconds. */
export interface RoundUsage extends AttemptSpending {
  /** Time during which the round waited for at least one engine job. */
  engine_s: number
  /** Time during which at least one model call ran and no engine job did. */
  model_s: number
  /** Attempts of all generation loops of the round. */
  validation_attempts: number
}
/** The list of an import preview, as an artifact, and its numbers of managed, unmanaged and omitted resources. */
export interface PreviewEntry extends ArtifactEntry {
  counts: { managed: number; unmanaged: number; left_out: number }
}
export interface RoundDetail {
  id: number
  number: number
  query: string
  preview: boolean
  previews: PreviewEntry[]
  statuses: { status: Status; message: string | null; created_at: string }[]
  reports: (ArtifactEntry & { type: ReportType })[]
  compliance_checks: (ArtifactEntry & { passed: boolean })[]
  /** `document_url`: the plan as data, presigned too; null for none. */
  plans: (ArtifactEntry & { targets: string[]; document_url: string | null })[]
  code_changes: (ArtifactEntry & { file_name: string })[]
  /** Outputs of the engine jobs of the round. */
  outputs: (ArtifactEntry & { step: string; exit_code: number | null })[]
  pull_requests: PullRequest[]
  /** The attempts of the round's generation loops. */
  attempts: AttemptDetail[]
  /** Null until the round has ended. */
  usage: RoundUsage | null
  created_at: string
}
/** All lists are sorted oldest first. `history` is null unless requested. */
export interface SessionAggregate extends SessionSummary {
  scope_id: string
  rounds: RoundDetail[]
  history: Turn[] | null
  /** The last saved plan; null for none. The API calls it `seal`. */
  saved_plan: SavedPlanStatus | null
}
