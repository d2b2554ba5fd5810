import { useMutation } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import type { Round } from '../../client/api/types.ts'
import { usePlatform } from '../../client/platform.ts'
import { useRefreshSession } from '../../client/sessions/use-session.ts'
import { hasPanelRole, useMe } from '../../client/use-me.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { useOpenSession } from '../session/context.ts'
import { type Mode, modeOf } from './conversation.ts'

/** Ends the round that runs, after saying what that keeps and what not. */
export function Stop({ round }: { round: Round }) {
  const { session, is_own } = useOpenSession()
  const { api } = usePlatform()
  const { data: me } = useMe()
  const refresh = useRefreshSession()
  const [asking, setAsking] = useState(false)
  const stop = useMutation({
    mutationFn: () => calls.cancel(api, { body: { session_id: session.uuid } }),
    onSuccess: () => {
      setAsking(false)
      return refresh(session.uuid)
    },
  })
  const close = () => {
    setAsking(false)
    stop.reset()
  }
  if (!is_own && !hasPanelRole(me, 'editor')) return <p class="small quiet">Its owner or a panel editor can stop it.</p>
  return (
    <>
      <Button kind="danger" onClick={() => setAsking(true)}>
        Stop
      </Button>
      <Dialog
        open={asking}
        title="Stop this round?"
        onClose={close}
        actions={
          <>
            <Button onClick={close}>Let it run</Button>
            <Button kind="danger" busy={stop.isPending} onClick={() => stop.mutate()}>
              Stop the round
            </Button>
          </>
        }
      >
        <Consequences mode={modeOf(round, session)} />
        {stop.error && <ErrorNotice error={stop.error} title="The round was not stopped" />}
      </Dialog>
    </>
  )
}

const Consequences = ({ mode }: { mode: Mode | null }) =>
  mode === 'apply' ? (
    <ul class="rounds-consequences">
      <li>Before the engine has begun, nothing is changed and the plan stays sealed.</li>
      <li>
        After that the engine is interrupted and waited for until it has written its state. The report says what was
        applied and what was not, and no plan is sealed any more.
      </li>
    </ul>
  ) : (
    <ul class="rounds-consequences">
      <li>The session stays open for further requests; its lock and its sealed plan stay as they were.</li>
      <li>Code that was pushed stays on the branch, but the next round begins at the commit before it.</li>
      {mode === 'import' && (
        <li>What was imported already stays in the state, and the branch keeps the code for it.</li>
      )}
      <li>What the models used is paid for all the same.</li>
    </ul>
  )
