/** How an apply ended. Texts are masked. */
export type ApplyResult =
  /** The engine ended. */
  | { kind: 'ran'; exit_code: number; stdout: string; stderr: string }
  /** Nothing was submitted, so nothing changed; `reason` says why, in sentences, and `advice` what to do. */
  | { kind: 'refused'; reason: string; advice: string }
  /** The one job was, or may have been, submitted, and nobody knows how it ended. */
  | { kind: 'unknown'; reason: string }

/** What earlier attempts of an apply round did. */
export interface ApplyProgress {
  /** Seconds since the round began to wait for another one of its project; null when it does not. */
  waited_s: number | null
  /** The one job was about to be submitted: no other may be. */
  intended: boolean
  job_id: string | null
  result: ApplyResult | null
}
