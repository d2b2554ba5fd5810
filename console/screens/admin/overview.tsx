import { useQuery } from '@tanstack/preact-query'
import { Link } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import { type Components, calls, type Status } from '../../client/api/client.ts'
import { usePlatform } from '../../client/platform.ts'
import { Elapsed, StatusBadge, Term } from '../../ui/kit.tsx'
import { QueryContent } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { formatMoney, formatNumber, formatSeconds, plural } from '../../ui/words.ts'
import { AdminPage } from './admin-parts.tsx'

type Totals = Components['SessionTotals']

/** Shows the platform at a glance: waiting and running work, failures, and cost. */
export const Screen = () => (
  <AdminPage title="Administration" needs="viewer" purpose="see the administration">
    <Overview />
  </AdminPage>
)

function Overview() {
  const { api } = usePlatform()
  const totals = useQuery({
    queryKey: ['sessions', 'summary'],
    queryFn: ({ signal }) => calls.countSessions(api, { signal }),
    refetchInterval: 5_000,
  })
  return (
    <QueryContent query={totals} what="overview" lines={10} stale="These figures are out of date">
      {(data) => (
        <>
          <Queue totals={data} />
          <Spend totals={data} />
          <Statuses totals={data} />
        </>
      )}
    </QueryContent>
  )
}

interface FigureProps {
  name: ComponentChildren
  value: ComponentChildren
  children?: ComponentChildren
}

const Figure = ({ name, value, children }: FigureProps) => (
  <div class="card admin-figure">
    <span class="small quiet">{name}</span>
    <b class="number">{value}</b>
    {children && <span class="small quiet">{children}</span>}
  </div>
)

const ListLink = ({ filter, children }: { filter: Record<string, unknown>; children: string }) => (
  <Link to="/sessions" search={{ view: 'all', ...filter }}>
    {children}
  </Link>
)

const Queue = ({ totals }: { totals: Totals }) => (
  <section class="admin-part" aria-labelledby="queue">
    <h2 id="queue">Queue</h2>
    <div class="admin-figures">
      <Figure
        name={
          <>
            <Term name="round">Rounds</Term> in flight
          </>
        }
        value={formatNumber(totals.in_flight)}
      >
        <ListLink filter={{ sort: 'last_activity' }}>Last active sessions</ListLink>
      </Figure>
      <Figure name="Waiting for a worker" value={formatNumber(totals.waiting)}>
        {totals.oldest_waiting_at ? (
          <>
            the oldest for <Elapsed since={totals.oldest_waiting_at} until={null} />
          </>
        ) : (
          'none waiting'
        )}
      </Figure>
      <Figure name="Failed sessions" value={formatNumber(totals.statuses.failed)}>
        <ListLink filter={{ status: 'failed' }}>Show them</ListLink>
      </Figure>
      <Figure name="Locked sessions" value={formatNumber(totals.locked)}>
        <Link to="/locked">Review them</Link>
      </Figure>
    </div>
  </section>
)

function Spend({ totals }: { totals: Totals }) {
  // During a deployment, a core of an earlier version may answer.
  const spend = totals.spend_30_days as Totals['spend_30_days'] | undefined
  if (!spend) return null
  return (
    <section class="admin-part" aria-labelledby="spend">
      <h2 id="spend">Spend of the last 30 days</h2>
      <div class="admin-figures">
        <Figure name="Models, at known prices" value={formatMoney(spend.cost_usd)}>
          {spend.rounds_of_unknown_cost > 0
            ? `without ${plural(spend.rounds_of_unknown_cost, 'round')} of unknown cost`
            : `all of ${plural(spend.rounds, 'round')}`}
        </Figure>
        <Figure name="Tokens read" value={formatNumber(spend.input_tokens)}>
          {formatNumber(spend.cached_tokens)} of them from a cache
        </Figure>
        <Figure name="Tokens written" value={formatNumber(spend.output_tokens)} />
        <Figure name="Engine time" value={formatSeconds(spend.engine_s)}>
          models {formatSeconds(spend.model_s)}
        </Figure>
      </div>
      {spend.rounds_of_unknown_cost > 0 && (
        <p class="small quiet">
          The cost of a round is unknown when the configuration has no price for a model (llm.prices), or when the round
          was interrupted too often.
        </p>
      )}
    </section>
  )
}

const Statuses = ({ totals }: { totals: Totals }) => (
  <section class="admin-part" aria-labelledby="statuses">
    <h2 id="statuses">Sessions by status</h2>
    <div class="scroll-x">
      <Table head={['Status', { number: 'Sessions' }, { unseen: 'Share' }]}>
        {Object.entries(totals.statuses).map(([status, count]) => (
          <tr key={status}>
            <th scope="row">
              <StatusBadge status={status as Status} />
            </th>
            <td class="number">{count > 0 ? <ListLink filter={{ status }}>{formatNumber(count)}</ListLink> : 0}</td>
            <td style={{ width: '50%' }}>
              {count > 0 && <span class="admin-share" style={{ width: `${(100 * count) / totals.total}%` }} />}
            </td>
          </tr>
        ))}
        <tr>
          <th scope="row">All</th>
          <td class="number">
            <ListLink filter={{}}>{formatNumber(totals.total)}</ListLink>
          </td>
          <td />
        </tr>
      </Table>
    </div>
  </section>
)
