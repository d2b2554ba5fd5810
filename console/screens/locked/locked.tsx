import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/preact-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import { calls, messageOf, type Session, type SessionSummary } from '../../client/api/client.ts'
import { hasPanelRole, useMe, usePlatform } from '../../client/platform.ts'
import { refreshSession } from '../../client/sessions/use-session.ts'
import { useAddress } from '../../client/use-address.ts'
import { Form, TextArea, TextField } from '../../ui/controls.tsx'
import { Ago, Button, Confirm, Empty, Notice, StatusBadge, Term } from '../../ui/kit.tsx'
import { Page, PanelGate, QueryContent } from '../../ui/page.tsx'
import { CLOUDS, oneLine, plural, repositoryName, shorten, visibleText } from '../../ui/words.ts'
import { LockReasons, SessionLink } from '../session/open-session.tsx'

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
        query: { locked: true, sort: 'last_activity', page: pageParam, page_size: 10 },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: ({ page, total_pages }) => (page < total_pages ? page + 1 : undefined),
    refetchInterval: 20_000,
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
      <Form class="locked-form" send={() => search.mutate(text)}>
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
      </Form>
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

interface CardProps {
  session: SessionSummary
  mayUnlock: boolean
  onUnlocked: (title: string) => void
}

/** Shows a locked session, the reason of the lock, and the possible actions. */
function LockedCard({ session, mayUnlock, onUnlocked }: CardProps) {
  const [asks, setAsks] = useState(false)
  const [reason, setReason] = useState('')
  const setLock = useSetLock()
  const title = oneLine(session.first_query || 'Without a request')
  const { uri, root_path } = session.workspace
  const unlock = async () => {
    await setLock(session.uuid, false, reason.trim())
    onUnlocked(title)
  }
  return (
    <article class="card locked-card" aria-label={title}>
      <header class="locked-head">
        <h2>
          <SessionLink id={session.uuid}>{title}</SessionLink>
        </h2>
        <StatusBadge status={session.current_status} />
      </header>
      <p class="page-kicker">
        <span>{oneLine(repositoryName(uri))}</span>
        {root_path && <span class="mono">{oneLine(root_path)}</span>}
        <span>{CLOUDS[session.provider] ?? session.provider}</span>
        <span>{oneLine(session.username ?? '')}</span>
        <span>
          active <Ago at={session.updated_at} />
        </span>
      </p>
      <div class="locked-why">
        <LockReasons lock={session.lock} />
      </div>
      <div class="notice-actions">
        <SessionLink class="button button-primary" id={session.uuid} part="review">
          Review
        </SessionLink>
        {mayUnlock && <Button onClick={() => setAsks(true)}>Unlock…</Button>}
      </div>
      <Confirm
        open={asks}
        title="Unlock this session?"
        action="Unlock"
        ready={reason.trim() !== ''}
        onClose={() => setAsks(false)}
        onConfirm={unlock}
      >
        <p>
          <b>{title}</b>
        </p>
        <ul class="locked-means">
          <li>The owner can then apply the saved plan and merge the pull request.</li>
          <li>Nothing is applied or merged automatically, and the findings stay in the review.</li>
          <li>The next request is reviewed again, and may lock the session again.</li>
          <li>The audit and the session show that you unlocked it, and why.</li>
        </ul>
        <TextArea
          id="unlock-reason"
          label="Reason"
          hint="What you checked. Everybody who may read the session can read it."
          rows={3}
          maxLength={1_000}
          aria-required
          value={reason}
          change={setReason}
        />
      </Confirm>
    </article>
  )
}

/** Returns a function that locks or unlocks a session. Throws as the call. */
function useSetLock(): (id: string, locked: boolean, reason?: string) => Promise<void> {
  const { api } = usePlatform()
  const client = useQueryClient()
  return async (id, locked, reason) => {
    await calls.setLock(api, { params: { session_id: id }, body: { locked, ...(reason && { reason }) } })
    await refreshSession(client, id)
  }
}
