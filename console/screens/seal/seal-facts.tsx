import { useState } from 'preact/hooks'
import type { Seal } from '../../client/api/schemas.ts'
import { Badge, Origin } from '../../ui/badge.tsx'
import { Button, Copy } from '../../ui/button.tsx'
import { Term } from '../../ui/term.tsx'
import { Ago } from '../../ui/time.tsx'
import { formatMoment, plural, shorten, visibleText } from '../../ui/words.ts'
import { SessionLink } from '../session/session-link.tsx'

/** What is sealed. */
export function SealFacts({ sessionId, seal }: { sessionId: string; seal: Seal }) {
  const { engine, state } = seal
  return (
    <section class="card seal-card" aria-labelledby="seal-facts">
      <header class="seal-head">
        <h3 id="seal-facts">What is sealed</h3>
        {seal.valid ? <Badge tone="good">valid</Badge> : <Badge tone="warn">not valid any more</Badge>}
      </header>
      {!seal.valid && seal.explanation && <p>{visibleText(seal.explanation)}</p>}
      <dl class="seal-facts">
        <dt>Sealed</dt>
        <dd>
          <Ago at={seal.sealed_at} />, by{' '}
          <SessionLink id={sessionId} part="review" search={{ round: seal.round }}>
            round {seal.round}
          </SessionLink>
          <span class="quiet small seal-block">{formatMoment(seal.sealed_at)}</span>
        </dd>
        <dt>Fingerprint</dt>
        <dd>
          <code>{seal.plan_sha256.slice(0, 16)}…</code> <Copy text={seal.plan_sha256} label="Copy all of it" />
          <span class="quiet small seal-block">SHA-256 of the plan file</span>
        </dd>
        <dt>Code</dt>
        <dd>
          commit <code title={seal.commit}>{seal.commit.slice(0, 12)}</code>
        </dd>
        <dt>Engine</dt>
        <dd>{engine ? `${visibleText(engine.name)} ${visibleText(engine.version)}` : 'The platform was not told.'}</dd>
        <dt>State</dt>
        <dd>
          {state ? `serial ${state.serial}` : 'The plan does not tell.'}
          {state?.lineage && <span class="quiet small seal-block mono">{visibleText(state.lineage)}</span>}
        </dd>
        <dt>Stored copy</dt>
        <dd>{seal.has_copy ? 'Encrypted, in the object store' : 'None; the plan is on the disk of a worker'}</dd>
        <dt>
          <Term name="targets">Targets</Term>
        </dt>
        <dd>
          <Targets targets={seal.targets} />
        </dd>
      </dl>
      <Origin by="code" />
    </section>
  )
}

const FIRST = 5

function Targets({ targets }: { targets: readonly string[] }) {
  const [all, setAll] = useState(false)
  if (targets.length === 0) return <>None: the plan is about the whole root.</>
  return (
    <>
      <ul>
        {(all ? targets : targets.slice(0, FIRST)).map((target) => (
          <li key={target} class="mono">
            {shorten(visibleText(target), 300)}
          </li>
        ))}
      </ul>
      {!all && targets.length > FIRST && (
        <Button kind="quiet" small onClick={() => setAll(true)}>
          All {plural(targets.length, 'target')}
        </Button>
      )}
    </>
  )
}
