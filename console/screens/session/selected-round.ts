import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Round } from '../../client/api/types.ts'
import { useOpenSession } from './context.ts'

/**
 * The round that the address names (`?round=2`), else the newest one that fits. Null when none does.
 * @param fits which rounds a screen can show
 */
export function useSelectedRound(fits: (round: Round) => boolean = () => true) {
  const { session } = useOpenSession()
  const search = useSearch({ strict: false }) as { round?: unknown }
  const navigate = useNavigate()
  const rounds = session.rounds.filter(fits)
  const round = rounds.find(({ number }) => number === Number(search.round)) ?? rounds.at(-1) ?? null
  const select = (number: number) => void navigate({ to: '.', search: { round: number } as never })
  return { round, rounds, select }
}
