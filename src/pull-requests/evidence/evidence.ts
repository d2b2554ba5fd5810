import type { Mode, Operation, ReportType, Status, Turn } from '../../base/vocabulary.ts'
import type { ApplyReport, ComplianceReport, DriftReport, GenerateReport, ImportReport } from '../../reports/schemas.ts'
import type { RoundResult } from '../../rounds/round-result.ts'

/** Database rows about a session, without documents of the object store. */
export interface EvidenceRows {
  session: {
    uuid: string
    /** Its owner. */
    user_id: number
    operation: Operation
    first_query: string
    history: Turn[]
    uri: string
    branch: string
    is_blocked: boolean
    in_flight: boolean
    /** Head of the session branch at the end of the last finished round. */
    last_commit: string | null
  }
  rounds: RoundRow[]
  /** The latest report of each type. */
  reports: (StoredRow & { type: ReportType })[]
  check: (StoredRow & { passed: boolean }) | null
  /** Plans of the round with the latest generate report, newest first, drift documents included. */
  plans: (StoredRow & { targets: string[] })[]
}

export interface RoundRow {
  number: number
  mode: Mode
  query: string
  status: Status
  /** Results of the round; absent or null when none are stored, as for older releases. */
  result?: RoundResult | null
}

/** An artifact; `uri` is its key in the artifacts bucket, `round` the number of its round. */
export interface StoredRow {
  round: number
  uri: string
  file_size_bytes: number | null
  created_at: string
}

/** A document of the object store; `document` is null when unreadable. */
export interface StoredDocument<Document> {
  round: number
  created_at: string
  document: Document | null
}

/** The input of all sections; a document is null when the session has none of its type. */
export interface Evidence {
  session: EvidenceRows['session']
  /** The rounds, masked. */
  rounds: RoundRow[]
  generate: StoredDocument<GenerateReport> | null
  drift: StoredDocument<DriftReport> | null
  import: StoredDocument<ImportReport> | null
  apply: StoredDocument<ApplyReport> | null
  compliance: (StoredDocument<ComplianceReport> & { passed: boolean }) | null
  /** The reviewed plan; null when there is none. */
  plan: {
    targets: string[]
    created_at: string
    /** The plan as the engine printed it, masked; null when unreadable. */
    text: string | null
  } | null
}
