/** How far a step of a lane is. `open`: it began and its end was never told. */
export type StepState = 'waiting' | 'running' | 'ok' | 'failed' | 'skipped' | 'open'

export interface LaneStep {
  name: string
  state: StepState
  /** Over all of its runs; null before the first one has ended. */
  seconds: number | null
  runs: number
}

export interface WrittenFile {
  path: string
  added: number
  removed: number
}

export type LaneKind = 'request' | 'attempt' | 'converge' | 'report'

/** A stretch of a round: what stands before the attempts, each attempt, and what comes after them. */
export interface Lane {
  key: string
  kind: LaneKind
  /** What is attempted: `generate`, `drift`, `import`; empty for other lanes. */
  task: string
  number: number
  max: number | null
  /** The platform's word for why the lane before was not enough. */
  reason: string | null
  began: string
  /** When the next lane began; null for the last one. */
  ended: string | null
  steps: LaneStep[]
  files: WrittenFile[]
  reads: number
  rules: number
}

export type LineKind = 'status' | 'lane' | 'chain' | 'tool' | 'file' | 'engine' | 'rule' | 'artifact' | 'note'

/** One line of what happened. What a chain or an engine step came to stands in the line of its beginning. */
export interface ActivityLine {
  key: string
  at: string
  kind: LineKind
  /** What was done, in a word of ours: `reads`, `plan`. */
  what: string
  /** Which file, rule or message: text of others. */
  about: string
  state: StepState
  seconds: number | null
  added: number | null
  removed: number | null
}

export interface FoldedActivity {
  lanes: Lane[]
  lines: ActivityLine[]
  /** Tokens of all rounds of the session together. */
  budget: { tokens: number; limit: number } | null
  /** Who asked for the end. */
  cancelling: string | null
  /** The limit behind which the round told less. */
  cut: 'rows' | 'bytes' | null
}
