import type { Mode, Operation, ReportType, Status, Turn } from '../../base/vocabulary.ts'
import type { ApplyReport, ComplianceReport, DriftReport, GenerateReport, ImportReport } from '../../reports/schemas.ts'

/** What the record says about a session; nothing here was read from the object store. */
export interface EvidenceRows {
  session: {
    uuid: string
    operation: Operation
    first_query: string
    history: Turn[]
    uri: string
    branch: string
    is_blocked: boolean
    in_flight: boolean
    /** Head of the session branch when the last finished round ended. */
    last_commit: string | null
  }
  /** Oldest first. */
  rounds: RoundRow[]
  /** The latest of each type. */
  reports: (StoredRow & { type: ReportType })[]
  /** The latest one. */
  check: (StoredRow & { passed: boolean }) | null
  /** Of the round with the latest generate report, newest first; drift documents are among them. */
  plans: (StoredRow & { targets: string[] })[]
}

export interface RoundRow {
  number: number
  mode: Mode
  query: string
  status: Status
}

/** An artifact; `uri` is its key in the artifacts bucket, `round` the number of its round. */
export interface StoredRow {
  round: number
  uri: string
  file_size_bytes: number | null
  created_at: string
}

/** A document of the object store; null where it could not be read. */
export interface Found<Document> {
  round: number
  created_at: string
  document: Document | null
}

/** Everything the sections are made of. Documents are null where the session has none. */
export interface Evidence {
  session: EvidenceRows['session']
  /** Queries in the form that may be shown. */
  rounds: RoundRow[]
  generate: Found<GenerateReport> | null
  drift: Found<DriftReport> | null
  import: Found<ImportReport> | null
  apply: Found<ApplyReport> | null
  compliance: (Found<ComplianceReport> & { passed: boolean }) | null
  /** The reviewed plan; null without one. */
  plan: {
    targets: string[]
    created_at: string /** As the engine printed it, masked; null where it could not be read. */
    text: string | null
  } | null
}
