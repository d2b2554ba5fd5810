import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, Unreachable } from '../../client/api/errors.ts'
import { useDraft } from '../../client/drafts.ts'
import { type Example, usePlatform, useStore } from '../../client/platform.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Term } from '../../ui/term.tsx'
import { Examples } from './examples.tsx'
import { type Typed, toTyped, withoutSecret } from './form.ts'
import { ModeCards } from './mode-cards.tsx'
import { PlaceFields } from './place-fields.tsx'
import { PlaceStatus } from './place-status.tsx'
import { Recent } from './recent.tsx'
import { Sentence } from './sentence.tsx'
import { usePlace } from './use-place.ts'
import { useRequest } from './use-request.ts'

/** Where a session begins: a sentence, the place that it is about, and what is to be done with it. */
export function Screen() {
  const { value: typed, set, change, clear } = useDraft<Typed>('start', {}, withoutSecret)
  const place = usePlace(typed)
  const request = useRequest(place.fields, clear)
  const isRefused = place.decision.data?.result === false
  const submit = () => {
    if (isRefused) document.getElementById('start-refused')?.focus()
    else void request.send()
  }
  return (
    <Page title="What should change?" lead="Say it in a sentence. Nothing is applied before you have seen the plan.">
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
        <ExamplesFor typed={typed} set={set} />
        <Sentence fields={place.fields} change={change} error={request.errorOf('q')} />
        <PlaceFields place={place} typed={typed} change={change} errorOf={request.errorOf} />
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
            It opens a session and begins its first round, which changes nothing in the cloud.
          </span>
        </p>
      </form>
      <Next open={place.recent.isSuccess && !place.hasSessions} />
      <Recent recent={place.recent} />
    </Page>
  )
}

/** The examples, and the way back to what one of them replaced. */
function ExamplesFor({ typed, set }: { typed: Typed; set: (typed: Typed) => void }) {
  const [before, setBefore] = useState<Typed | null>(null)
  const [filled, setFilled] = useState('')
  const fill = (example: Example) => {
    const isOwn = (typed.q ?? '').trim() !== '' && typed.q !== filled
    if (isOwn) setBefore(typed)
    setFilled(example.text)
    set(toTyped(example))
  }
  const undo = () => {
    if (before) set(before)
    setBefore(null)
  }
  return <Examples fill={fill} undo={before && undo} />
}

/** What comes after sending. Whoever has no session yet sees it at once. */
export function Next({ open }: { open: boolean }) {
  return (
    <details class="start-next" open={open}>
      <summary>What happens after you send</summary>
      <ol>
        <li>
          <b>
            The platform works in a <Term name="round" />.
          </b>{' '}
          A model writes code on a branch of its own, the engine checks it, and you can watch, stop and ask further.
        </li>
        <li>
          <b>
            You review the <Term name="plan" />.
          </b>{' '}
          Resource by resource, with its <Term name="impact" /> and the rules that it meets or breaks.
        </li>
        <li>
          <b>
            What you reviewed gets a <Term name="seal" />.
          </b>{' '}
          You open the pull request, and apply exactly that plan or nothing.
        </li>
      </ol>
    </details>
  )
}

/** Why the request was not taken, where it is not about a single field. */
export function Failure({ error }: { error: unknown }) {
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
          Nothing was sent, and nothing that you typed is lost. Sign in again, then send.
        </Notice>
      ) : error instanceof Unreachable ? (
        <Notice
          tone="bad"
          title="The platform did not answer"
          actions={<Link to="/sessions">Look at your sessions</Link>}
        >
          The request may have arrived all the same. Look whether there is a session for it before you send it again.
          What you typed is kept.
        </Notice>
      ) : (
        <ErrorNotice error={error} title="The request was not taken" />
      )}
    </div>
  )
}
