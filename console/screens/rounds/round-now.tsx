import type { Round } from '../../client/api/types.ts'
import { Notice } from '../../ui/notice.tsx'
import { Elapsed } from '../../ui/time/time.tsx'
import { formatMoney, formatNumber } from '../../ui/words/format.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'
import { useOpenSession } from '../session/context.ts'
import { lastMessage, spentSoFar } from './conversation.ts'
import { Stop } from './stop.tsx'

/** The headline of a round that runs: what happens now, what it took so far, and how to stop it. */
export function RoundNow({ round, cancelling }: { round: Round; cancelling: string | null }) {
  const { live } = useOpenSession()
  const spent = spentSoFar(round)
  const message = live?.message || lastMessage(round)
  return (
    <Notice tone="accent">
      <div class="rounds-now">
        <div>
          <p class="rounds-headline" aria-live="polite">
            {cancelling === null
              ? shorten(visibleText(message ?? 'Waiting for its turn.'), 400)
              : `${shorten(visibleText(cancelling), 120)} stops it. It ends when the engine has stopped.`}
          </p>
          <p class="small quiet number">
            <Elapsed since={round.created_at} until={null} />
            {spent && ` · ${formatNumber(spent.tokens)} tokens so far`}
            {spent?.cost_usd != null && ` · ${formatMoney(spent.cost_usd)}`}
          </p>
        </div>
        {cancelling === null && <Stop round={round} />}
      </div>
    </Notice>
  )
}
