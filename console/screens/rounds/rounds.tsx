import { useEffect, useState } from 'preact/hooks'
import { hasEnded } from '../../client/sessions/use-session.ts'
import { useAnySearch } from '../../client/use-address.ts'
import { Empty } from '../../ui/notice.tsx'
import { Term } from '../../ui/term.tsx'
import { useOpenSession } from '../session/open-session.tsx'
import { Composer } from './composer.tsx'
import { answersOf } from './conversation.ts'
import { RoundEntry } from './round-entry.tsx'

/** Shows the session as a conversation: each round is a request, the work on it, and its result. */
export function Screen() {
  const { session } = useOpenSession()
  const { isOpen, toggle } = useOpenRounds()
  const answers = answersOf(session)
  return (
    <section class="rounds">
      <p class="small quiet">
        A <Term name="session">session</Term> is a conversation; each request in it starts a{' '}
        <Term name="round">round</Term>.
      </p>
      {session.rounds.length === 0 && <Empty title="No round yet">The first request is being accepted.</Empty>}
      <ol class="rounds-list">
        {session.rounds.map((round) => (
          <RoundEntry
            key={round.number}
            round={round}
            answer={answers.get(round.number) ?? null}
            open={isOpen(round.number)}
            onToggle={(open) => toggle(round.number, open)}
          />
        ))}
      </ol>
      <Composer />
    </section>
  )
}

/** Tracks the open rounds: at first the one that the address names, or the newest one, and the running one. */
function useOpenRounds() {
  const { session } = useOpenSession()
  const named = Number(useAnySearch().round)
  const newest = session.rounds.at(-1)
  const [choices, setChoices] = useState<Record<number, boolean>>({})
  useEffect(() => setChoices({}), [session.uuid, named, newest?.number])
  const isNamed = session.rounds.some(({ number }) => number === named)
  const isOpen = (number: number): boolean => {
    const chosen = choices[number]
    if (chosen !== undefined) return chosen
    if (isNamed && number === named) return true
    return number === newest?.number && (!isNamed || !hasEnded(newest))
  }
  return { isOpen, toggle: (number: number, open: boolean) => setChoices((all) => ({ ...all, [number]: open })) }
}
