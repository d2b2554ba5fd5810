import { useEffect, useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import { messageOf } from '../../client/api/errors.ts'
import type { Session } from '../../client/api/schemas.ts'
import { usePlatform } from '../../client/platform.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { repositoryName, shorten, visibleText } from '../../ui/words.ts'
import { useSetLock } from './locked-card.tsx'

const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

interface LockOneProps {
  /** The session that the address names, blank for none. */
  given: string
  onLocked: (title: string) => void
}

/** Locks a session of anybody: its id or the address of its page is enough. */
export function LockOne({ given, onLocked }: LockOneProps) {
  const { api } = usePlatform()
  const setLock = useSetLock()
  const [text, setText] = useState(given)
  const [session, setSession] = useState<Session | null>(null)
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const find = async (value: string) => {
    const id = ID.exec(value)?.[0]
    if (!id) return setError('This names no session. Paste its id, or the address of its page.')
    setBusy(true)
    setError('')
    try {
      const found = await calls.getAnySession(api, { query: { id } })
      if (found.is_blocked) setError('This session is locked already.')
      else setSession(found)
    } catch (thrown) {
      setError(messageOf(thrown))
    } finally {
      setBusy(false)
    }
  }
  useEffect(() => {
    if (given !== '') void find(given)
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
          void find(text)
        }}
      >
        <Field id="lock-session" label="Session" hint="Its id, or the address of its page" error={error || undefined}>
          {(control) => (
            <input
              {...control}
              value={text}
              maxLength={500}
              autocomplete="off"
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          )}
        </Field>
        <Button type="submit" busy={busy}>
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
          Apply and merge are then refused, until an editor unlocks it or a later generate round passes its review. What
          runs now goes on.
        </p>
      </Confirm>
    </details>
  )
}
