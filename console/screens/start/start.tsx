import { useState } from 'preact/hooks'
import type { Example } from '../../client/platform.ts'
import { useDraft } from '../../client/use-draft.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Examples } from './examples.tsx'
import { Failure } from './failure.tsx'
import { type Typed, toTyped, withoutSecret } from './form.ts'
import { ModeCards } from './mode-cards.tsx'
import { Next } from './next.tsx'
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
