import { useInfiniteQuery, useMutation } from '@tanstack/preact-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import { messageOf } from '../../client/api/errors.ts'
import type { Session } from '../../client/api/schemas.ts'
import { usePlatform } from '../../client/platform.ts'
import { useAddress } from '../../client/use-address.ts'
import { hasPanelRole, useMe } from '../../client/use-me.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Empty, Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { PanelGate, QueryContent } from '../../ui/shell/errors.tsx'
import { Term } from '../../ui/term.tsx'
import { plural, repositoryName, shorten, visibleText } from '../../ui/words.ts'
import { LockedCard, useSetLock } from './locked-card.tsx'

const PAGE_SIZE = 10
const REFRESH_MS = 20_000

/** Shows the locked sessions. */
export function Screen() {
  return (
    <Page
      title="Locked sessions"
      lead={
        <>
          Under a <Term name="lock" />, apply and merge are refused. Review the findings, then unlock the session or
          leave it locked.
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
    // The focused element is gone with its card, and a closing dialog restores the focus a moment later.
    for (const wait of [0, 200]) setTimeout(() => message.current?.focus(), wait)
  }
  return (
    <>
      <p ref={message} tabIndex={-1} role="status" class={done ? 'notice notice-good' : 'unseen'}>
        {done}
      </p>
      {!mayLock && me.data && (
        <Notice title="You can read locked sessions, not unlock them">
          Locking and unlocking need the panel role editor; yours is {me.data.panel_role}.
        </Notice>
      )}
      {mayLock && <LockOne given={address.read('lock')} onLocked={(title) => tell(`Locked: ${title}`)} />}
      <QueryContent query={list} what="list of locked sessions" lines={10}>
        {({ pages }) => {
          const sessions = new Map(pages.flatMap(({ items }) => items.map((session) => [session.uuid, session])))
          if (sessions.size === 0)
            return (
              <Empty title="Nothing is locked">
                A session is locked because of its impact, by the compliance check, or by an editor. It is then listed
                here.
              </Empty>
            )
          return (
            <>
              <p class="small quiet" role="status">
                {plural(pages.at(-1)?.total ?? 0, 'locked session')}, the last active first
              </p>
              {[...sessions.values()].map((session) => (
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
          )
        }}
      </QueryContent>
    </>
  )
}

const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

interface LockOneProps {
  /** The session in the address, blank for none. */
  given: string
  onLocked: (title: string) => void
}

/** Locks any session by its id or the address of its page. */
function LockOne({ given, onLocked }: LockOneProps) {
  const { api } = usePlatform()
  const setLock = useSetLock()
  const [text, setText] = useState(given)
  const [session, setSession] = useState<Session | null>(null)
  const search = useMutation({
    mutationFn: async (value: string) => {
      const id = ID.exec(value)?.[0]
      if (!id) return 'No session id found. Paste the id, or the address of the page.'
      const found = await calls.getAnySession(api, { query: { id } })
      if (found.is_blocked) return 'This session is already locked.'
      setSession(found)
      return undefined
    },
  })
  useEffect(() => {
    if (given !== '') search.mutate(given)
  }, [given])
  const title = session ? visibleText(shorten(session.first_query ?? 'Without a request', 200)) : ''
  const lock = async () => {
    await setLock(session?.uuid ?? '', true)
    setText('')
    onLocked(title)
  }
  return (
    <details class="card" open={given !== '' || undefined}>
      <summary>Lock a session</summary>
      <form
        class="locked-form"
        onSubmit={(event) => {
          event.preventDefault()
          search.mutate(text)
        }}
      >
        <TextField
          id="lock-session"
          label="Session"
          hint="Its id, or the address of its page"
          error={search.error ? messageOf(search.error) : search.data}
          value={text}
          maxLength={500}
          autocomplete="off"
          change={setText}
        />
        <Button type="submit" busy={search.isPending}>
          Lock…
        </Button>
      </form>
      <Confirm
        open={session !== null}
        title="Lock this session?"
        action="Lock"
        danger
        onClose={() => setSession(null)}
        onConfirm={lock}
      >
        <p>
          <b>{title}</b>
          <br />
          {session && (
            <span class="quiet">
              {visibleText(repositoryName(session.workspace.uri))} · {visibleText(session.username ?? '')}
            </span>
          )}
        </p>
        <p>
          Apply and merge are then refused, until an editor unlocks it or a later generate round passes its review. A
          running round continues.
        </p>
      </Confirm>
    </details>
  )
}
