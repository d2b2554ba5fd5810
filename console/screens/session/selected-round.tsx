import type { Round } from '../../client/api/schemas.ts'
import { useAnySearch, useSearchChange } from '../../client/use-address.ts'
import { shorten, visibleText } from '../../ui/words.ts'
import { useOpenSession } from './session-context.ts'

export interface SelectedRound {
  round: Round | null
  /** The rounds that the screen can show. */
  rounds: readonly Round[]
  select: (number: number) => void
}

/** Returns the round that the address names (`?round=2`), otherwise the newest one for which `fits` is true. */
export function useSelectedRound(fits: (round: Round) => boolean): SelectedRound {
  const { session } = useOpenSession()
  const named = Number(useAnySearch().round)
  const change = useSearchChange()
  const rounds = session.rounds.filter(fits)
  const round = rounds.find(({ number }) => number === named) ?? rounds.at(-1) ?? null
  // Other parameters of the address, such as a resource of the plan, are only valid for one round.
  const select = (number: number) =>
    change({ round: number, plan: undefined, resource: undefined, finding: undefined }, false)
  return { round, rounds, select }
}

/** Selects one of several rounds; shows nothing for only one. */
export function RoundPicker({ round, rounds, select }: SelectedRound) {
  if (round === null || rounds.length < 2) return null
  return (
    <label class="round-picker">
      <span class="small quiet">Round</span>
      <select value={round.number} onChange={({ currentTarget }) => select(Number(currentTarget.value))}>
        {rounds.toReversed().map(({ number, query, preview }) => (
          <option key={number} value={number}>
            {`${number} · ${preview ? 'Preview · ' : ''}${shorten(visibleText(query), 50)}`}
          </option>
        ))}
      </select>
    </label>
  )
}
