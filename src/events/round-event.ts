/** An action of a round: names, paths, counts and outcomes, but no tool arguments or model output. */
export type Activity =
  | { type: 'attempt.began'; attempt: number; max_attempts: number; task: string; reason: string | null }
  | { type: 'chain.began'; chain: string }
  | { type: 'chain.ended'; chain: string; outcome: 'ok' | 'failed'; seconds: number }
  | {
      type: 'tool.called'
      chain: string
      tool: string
      path: string | null
      outcome: 'ok' | 'refused'
      seconds: number
    }
  | { type: 'engine.began'; step: string }
  | { type: 'engine.ended'; step: string; exit_code: number | null; seconds: number }
  | { type: 'file.written'; path: string; lines_added: number; lines_removed: number }
  | { type: 'rule.found'; rule: string; severity: string; address: string | null }
  | { type: 'artifact.uploaded'; kind: string; name: string; bytes: number }
  | { type: 'budget.spent'; tokens: number; limit: number }
  | { type: 'round.cancelling'; by: string }
  | LimitReached

/** The live output of engine jobs. A text holds whole lines. */
export type EngineOutput =
  | { type: 'step.began'; step: string; job_id: string }
  | { type: 'lines'; step: string; job_id: string; stream: 'stdout' | 'stderr'; text: string }
  | { type: 'step.ended'; step: string; job_id: string; exit_code: number | null; seconds: number }
  | LimitReached

/** The limit of a channel was reached. From here on it holds only beginnings, ends and cancellations. */
export interface LimitReached {
  type: 'cut'
  limit: 'rows' | 'bytes'
}

export type RoundEvent = Activity | EngineOutput

/** The two event streams of a session, as named in the column `channel` of `round_events`. */
export type EventChannel = 'activity' | 'output'
