/** The states of a round, with their descriptions for `docs/rounds.md`. They are derived from its columns. */
export const ROUND_STATES = {
  none: 'The session does not exist, not yet or no longer.',
  queued: 'No worker holds the round: it was just accepted, or a worker that stopped has released it.',
  running: 'A worker holds the lease.',
  interrupted: 'The lease has run out: the worker died or cannot reach the database. Any worker may claim the round.',
  saving: 'A worker holds the lease and saves the plan of the round.',
  parked: 'No worker holds the round: it waits until another apply of its project ends.',
  cancelling: 'A worker holds the lease, and somebody has cancelled the round.',
  stopping:
    'Somebody has cancelled the round, and no worker holds it: the next one stops the jobs that an earlier one left.',
  ended: 'The round is finished; the session accepts the next one.',
  failed:
    'The round is finished and failed; the session accepts no further round. The last turn of its history says so, ' +
    'and names the branch that stays.',
} as const
export type RoundState = keyof typeof ROUND_STATES

/** A change of status or lock, described for the page and for the test that tries it in every state. */
export interface TransitionRow {
  /** The resulting state or states for each state in which it applies. In any other it changes nothing. */
  moves: Partial<Record<RoundState, RoundState | readonly RoundState[]>>
  /**
   * Its use of the session's fence, which rises by one whenever another worker may claim the round: `checked` refuses a
   * worker whose claim is not the last one, `raised` refuses the previous worker from now on.
   */
  fence?: 'checked' | 'raised' | 'checked, raised'
  status?: string
  /** Its effect on the lock of the session or of the project. */
  lock?: string
  /** The condition of its SQL in addition to the state and the fence. */
  guard?: string
  /** Its caller and the occasion. */
  caller: string
}

/** A function that changes statuses or locks, with its row of the page. */
export type Transition<Run> = Run & { readonly row: TransitionRow }

export const transition = <Run extends (...args: never[]) => unknown>(row: TransitionRow, run: Run): Transition<Run> =>
  Object.assign(run, { row })
