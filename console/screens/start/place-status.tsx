import type { ComponentChildren } from 'preact'
import { ApiError, messageOf } from '../../client/api/errors.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { visibleText } from '../../ui/words.ts'
import { rootOf, toSentence } from './form.ts'
import { Pick } from './place-fields.tsx'
import type { Place } from './use-place.ts'

export function PlaceStatus({ place }: { place: Place }) {
  return (
    <>
      <div class="start-status small" role="status">
        {place.address === 'complete' && (
          <ul>
            <Roots place={place} />
            {place.mapping.error && (
              <Line sign="!" again={place.mapping.refetch}>
                The mapping service does not answer. Enter cloud and scope yourself.
              </Line>
            )}
            <Permission place={place} />
          </ul>
        )}
      </div>
      <Refused place={place} />
    </>
  )
}

interface LineProps {
  sign: '✓' | '…' | '!'
  /** Asks the service again. */
  again?: () => unknown
  children: ComponentChildren
}

const Line = ({ sign, again, children }: LineProps) => (
  <li class={sign === '!' ? 'start-warn' : undefined}>
    <span aria-hidden="true">{sign}</span> {children} {again && <Pick pick={again}>Retry</Pick>}
  </li>
)

function Roots({ place: { roots, fields } }: { place: Place }) {
  if (roots.isFetching) return <Line sign="…">Reading the repository</Line>
  if (roots.error)
    return (
      <Line sign="!" again={roots.refetch}>
        {toSentence(messageOf(roots.error))}
        {!isRefusal(roots.error) && ' You can send the request all the same, with the engine root that you entered.'}
      </Line>
    )
  if (!roots.data) return null
  if (roots.data.length === 0) return <Line sign="!">No folder of the repository looks like an engine root.</Line>
  const root = rootOf(fields.iac_path)
  if (roots.data.map(rootOf).includes(root))
    return (
      <Line sign="✓">The repository can be read{root !== '' && `, and ${visibleText(root)} is an engine root`}.</Line>
    )
  return (
    <Line sign="!">
      {root === '' ? 'The root of the repository' : visibleText(root)} does not look like an engine root. Select one of
      the roots found, unless you are sure.
    </Line>
  )
}

const isRefusal = (error: unknown) => error instanceof ApiError && [400, 422].includes(error.status)

function Permission({ place: { decision } }: { place: Place }) {
  if (decision.isFetching) return <Line sign="…">Checking your permission</Line>
  if (decision.error)
    return (
      <Line sign="!" again={decision.refetch}>
        Your permission is unknown: the service for it does not answer. You can send the request all the same.
      </Line>
    )
  if (!decision.data?.result) return null
  return (
    <Line sign="✓">
      <span title={visibleText(decision.data.message)}>You have permission to work here.</span>{' '}
      <Portal url={decision.data.portalUrl} />
    </Line>
  )
}

function Refused({ place: { decision } }: { place: Place }) {
  if (decision.data?.result !== false) return null
  return (
    <div id="start-refused" tabIndex={-1}>
      <Notice
        tone="bad"
        title="You have no permission to work here"
        actions={<Button onClick={() => void decision.refetch()}>Retry</Button>}
      >
        <p>{visibleText(decision.data.message)}</p>
        <p>
          Choose another repository, cloud or engine root, or request access. Your input is kept.{' '}
          <Portal url={decision.data.portalUrl} />
        </p>
      </Notice>
    </div>
  )
}

const Portal = ({ url }: { url: string | null }) =>
  url !== null && /^https?:\/\//i.test(url) ? (
    <a href={url} rel="noreferrer" target="_blank">
      Open the cloud console
    </a>
  ) : null
