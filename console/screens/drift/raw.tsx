import { useState } from 'preact/hooks'
import type { Round } from '../../client/api/types.ts'
import { useArtifact } from '../../client/sessions/use-artifact.ts'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { plural } from '../../ui/words/format.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'
import { useOpenSession } from '../session/context.ts'

const MAX_SHOWN = 200_000

/** The documents behind the page, as they were stored; each is read when it is opened. */
export function Raw({ round }: { round: Round }) {
  const plans = round.plans.map(({ url, targets, document_url }, index) => ({
    url,
    name: `${document_url === null ? 'Drift reading' : 'Plan'} ${index + 1}`,
    about: targets.length > 0 ? plural(targets.length, 'target') : 'the whole root',
  }))
  const outputs = round.outputs
    .filter(({ step }) => step === 'plan')
    .map(({ url }, index) => ({ url, name: `Words of the engine ${index + 1}`, about: 'plan' }))
  const documents = [...plans, ...outputs]
  if (documents.length === 0) return null
  return (
    <details class="card">
      <summary>What the engine said, as it was stored</summary>
      {documents.map((document) => (
        <Document key={document.url} {...document} />
      ))}
    </details>
  )
}

function Document({ url, name, about }: { url: string; name: string; about: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="drift-raw" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {name} <span class="small quiet">{about}</span>
      </summary>
      {isOpen && <Text url={url} name={name} />}
    </details>
  )
}

function Text({ url, name }: { url: string; name: string }) {
  const { session } = useOpenSession()
  const { data, error, refetch } = useArtifact(session.uuid, url)
  if (error) return <ErrorNotice error={error} title={`${name} could not be read`} retry={() => void refetch()} />
  if (!data) return <Skeleton lines={4} />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by the keyboard
    <section class="drift-text" tabIndex={0} aria-label={name}>
      <pre>{visibleText(shorten(data.text, MAX_SHOWN))}</pre>
    </section>
  )
}
