import { useMutation } from '@tanstack/preact-query'
import { calls } from '../../client/api/calls.ts'
import type { Seal, Session } from '../../client/api/schemas.ts'
import { usePlatform } from '../../client/platform.ts'
import { useRefreshSession } from '../../client/sessions/use-session.ts'
import { hasPanelRole, useMe } from '../../client/use-me.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { Ago } from '../../ui/time.tsx'
import { visibleText } from '../../ui/words.ts'

type Check = Seal['checks'][number]

const QUESTIONS: Record<Check['name'], string> = {
  commit: 'Is the code unchanged since the plan?',
  engine: 'Is the engine the same as for the plan?',
  state: 'Is the state unchanged since the plan?',
  reviewed: 'Did the round that saved it complete?',
  lock: 'Is the session unlocked?',
  copy: 'Is there an encrypted copy?',
}
const OUTCOMES: Record<Check['outcome'], [sign: string, word: string, tone: Tone]> = {
  holds: ['✓', 'holds', 'good'],
  broken: ['✗', 'broken', 'bad'],
  unknown: ['?', 'unknown', 'neutral'],
}

/** Verifies the saved plan, and shows the last verification. */
export function Verify({ session, seal, isOwn }: { session: Session; seal: Seal; isOwn: boolean }) {
  const { api } = usePlatform()
  const me = useMe()
  const refresh = useRefreshSession()
  const verify = useMutation({
    mutationFn: () => calls.verifySeal(api, { body: { session_id: session.uuid } }),
    onSettled: () => refresh(session.uuid),
  })
  const checks = verify.data?.checks ?? seal.checks
  const verifiedAt = verify.data?.verified_at ?? seal.verified_at
  const may = isOwn || hasPanelRole(me.data, 'editor')
  return (
    <section class="card seal-card" aria-labelledby="seal-verify">
      <header class="seal-head">
        <h3 id="seal-verify">Is it still valid?</h3>
        {may && (
          <Button small busy={verify.isPending} onClick={() => verify.mutate()}>
            {verify.isPending ? 'Verifying…' : 'Verify now'}
          </Button>
        )}
      </header>
      <p class="quiet" role="status">
        {verifiedAt === null ? (
          'Not verified yet. A verification changes nothing, and an apply verifies the plan again.'
        ) : (
          <>
            Verified <Ago at={verifiedAt} />.{' '}
            {seal.reason === 'used' ? 'The plan has been applied since.' : 'An apply verifies the plan again.'}
          </>
        )}
      </p>
      {!may && <p class="quiet">Its owner and users with the panel role editor can verify it.</p>}
      {verify.error && (
        <ErrorNotice error={verify.error} title="The plan could not be verified" retry={() => verify.mutate()} />
      )}
      <ul class="seal-checks" aria-label="Checks of the saved plan">
        {(Object.keys(QUESTIONS) as Check['name'][]).map((name) => (
          <CheckRow key={name} name={name} check={checks.find((check) => check.name === name)} />
        ))}
      </ul>
    </section>
  )
}

function CheckRow({ name, check }: { name: Check['name']; check: Check | undefined }) {
  const [sign, word, tone] = check ? OUTCOMES[check.outcome] : ['·', 'not checked', 'neutral' as const]
  return (
    <li>
      <Badge tone={tone}>
        <span aria-hidden="true">{sign}</span> {word}
      </Badge>
      <div>
        {QUESTIONS[name]}
        {check && <span class="quiet small seal-block">{visibleText(check.explanation)}</span>}
      </div>
    </li>
  )
}
