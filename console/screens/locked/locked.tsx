import { useInfiniteQuery } from '@tanstack/preact-query'
import { useRef, useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import { usePlatform } from '../../client/platform.ts'
import { useAddress } from '../../client/use-address.ts'
import { hasPanelRole, useMe } from '../../client/use-me.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { PanelGate, Unreadable } from '../../ui/shell/errors.tsx'
import { Term } from '../../ui/term.tsx'
import { plural } from '../../ui/words.ts'
import { LockOne } from './lock-one.tsx'
import { LockedCard } from './locked-card.tsx'

const PAGE_SIZE = 10
const REFRESH_MS = 20_000

/** The inbox of whoever looks after others: sessions that wait until somebody has looked. */
export function Screen() {
  return (
    <Page
      title="Locked sessions"
      lead={
        <>
          Under a <Term name="lock" />, apply and merge are refused. Look at what was found, then unlock or leave it.
        </>
      }
    >
      <PanelGate needs="viewer" purpose="see locked sessions">
        <Inbox />
      </PanelGate>
    </Page>
  )
}

function Inbox() {
  const { api } = usePlatform()
  const me = useMe()
  const address = useAddress()
  const [done, setDone] = useState('')
  const message = useRef<HTMLParagraphElement>(null)
  const mayLock = hasPanelRole(me.data, 'editor')
  const list = useInfiniteQuery({
    queryKey: ['sessions', 'locked'],
    queryFn: ({ pageParam, signal }) =>
      calls.listAllSessions(api, {
        query: { locked: true, sort: 'last_activity', page: pageParam, page_size: PAGE_SIZE },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: ({ page, total_pages }) => (page < total_pages ? page + 1 : undefined),
    refetchInterval: REFRESH_MS,
  })
  const tell = (text: string) => {
    setDone(text)
    if (address.read('lock')) address.change({ lock: '' }, { replace: true })
    // What had the focus is gone with its card, and a dialog that closes gives the focus back a moment later.
    for (const wait of [0, 200]) setTimeout(() => message.current?.focus(), wait)
  }
  const seen = new Set<string>()
  const sessions = (list.data?.pages ?? [])
    .flatMap(({ items }) => items)
    .filter(({ uuid }) => !seen.has(uuid) && seen.add(uuid))
  const total = list.data?.pages.at(-1)?.total ?? 0
  return (
    <>
      <p ref={message} tabIndex={-1} role="status" class={done ? 'notice notice-good' : 'unseen'}>
        {done}
      </p>
      {!mayLock && me.data && (
        <Notice title="You can look, and not unlock">
          Locking and unlocking need the panel role editor; yours is {me.data.panel_role}.
        </Notice>
      )}
      {mayLock && <LockOne given={address.read('lock')} onLocked={(title) => tell(`Locked: ${title}`)} />}
      {list.error && !list.data ? (
        <Unreadable error={list.error} what="list of locked sessions" retry={() => void list.refetch()} />
      ) : !list.data ? (
        <Skeleton lines={10} />
      ) : sessions.length === 0 ? (
        <Empty title="Nothing is locked">
          A session is locked by its impact, by the compliance audit, or by an editor. It then waits here.
        </Empty>
      ) : (
        <>
          <p class="small quiet" role="status">
            {plural(total, 'locked session')}, the last active first
          </p>
          {sessions.map((session) => (
            <LockedCard
              key={session.uuid}
              session={session}
              mayUnlock={mayLock}
              onUnlocked={(title) => tell(`Unlocked: ${title}`)}
            />
          ))}
          {list.hasNextPage && (
            <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              Show more
            </Button>
          )}
        </>
      )}
    </>
  )
}
