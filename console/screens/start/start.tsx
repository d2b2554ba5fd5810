import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError, Unreachable } from '../../client/api/errors.ts'
import { useDraft } from '../../client/drafts.ts'
import { usePlatform, useStore } from '../../client/platform.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Term } from '../../ui/term.tsx'
import { type FormInput, withoutSecret } from './form.ts'
import { ModeCards } from './mode-cards.tsx'
import { PlaceFields } from './place-fields.tsx'
import { PlaceStatus } from './place-status.tsx'
import { Recent } from './recent.tsx'
import { Examples, Sentence } from './sentence.tsx'
import { usePlace } from './use-place.ts'
import { useRequest } from './use-request.ts'

/** Shows the first screen: request, place, and mode. */
export function Screen() {
  const { value: input, set, change, clear } = useDraft<FormInput>('start', {}, withoutSecret)
  const place = usePlace(input)
  const request = useRequest(place.fields, clear)
  const isRefused = place.decision.data?.result === false
  const submit = () => {
    if (isRefused) document.getElementById('start-refused')?.focus()
    else request.send()
  }
  return (
    <Page
      title="What should change?"
      lead="Say it in a sentence. Nothing is applied before you have reviewed the plan."
    >
      <form
        class="start-form"
        noValidate
        aria-label="New request"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return
          event.preventDefault()
          submit()
        }}
      >
        <Examples input={input} set={set} />
        <Sentence fields={place.fields} change={change} error={request.errorOf('q')} />
        <PlaceFields place={place} input={input} change={change} errorOf={request.errorOf} />
        <PlaceStatus place={place} />
        <ModeCards chosen={place.fields.mode} choose={(mode) => change({ mode })} />
        <Failure error={request.failure} />
        <p class="start-send">
          <Button
            kind="primary"
            type="submit"
            busy={request.sending}
            aria-describedby={isRefused ? 'start-refused' : undefined}
          >
            {request.sending ? 'Sending' : 'Send request'}
          </Button>
          <span class="small quiet">
            This opens a session and starts its first round, which changes nothing in the cloud.
          </span>
        </p>
      </form>
      <Next open={place.recent.isSuccess && !place.hasSessions} />
      <Recent recent={place.recent} />
    </Page>
  )
}

/** Shows the steps after sending, open for users without sessions. */
function Next({ open }: { open: boolean }) {
  return (
    <details class="start-next" open={open}>
      <summary>What happens after you send</summary>
      <ol>
        <li>
          <b>
            The platform starts a <Term name="round" />.
          </b>{' '}
          A model writes code on a separate branch and the engine checks it. You can watch it, stop it and send further
          requests.
        </li>
        <li>
          <b>
            You review the <Term name="plan" />.
          </b>{' '}
          Resources, with its <Term name="impact" /> and the findings of the rules.
        </li>
        <li>
          <b>
            The reviewed plan becomes the <Term name="saved plan" />.
          </b>{' '}
          You open the pull request and apply exactly that plan, or nothing.
        </li>
      </ol>
    </details>
  )
}

/** Shows the reason of a refusal that concerns no single field. */
function Failure({ error }: { error: unknown }) {
  const { signIn } = usePlatform()
  const state = useStore(signIn.state)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (error) place.current?.scrollIntoView({ block: 'nearest' })
  }, [error])
  if (!error) return null
  return (
    <div ref={place}>
      {error instanceof ApiError && error.status === 401 ? (
        <Notice
          tone="bad"
          title="You are signed out"
          actions={state !== 'open' && <Button onClick={() => void signIn.start()}>Sign in again</Button>}
        >
          Nothing was sent and your input is kept. Sign in again, then send.
        </Notice>
      ) : error instanceof Unreachable ? (
        <Notice
          tone="bad"
          title="The platform did not answer"
          actions={<Link to="/sessions">Check your sessions</Link>}
        >
          The request may have arrived all the same. Check whether there is a session for it before you send it again.
          Your input is kept.
        </Notice>
      ) : (
        <ErrorNotice error={error} title="The request was not accepted" />
      )}
    </div>
  )
}
