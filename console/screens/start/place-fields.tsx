import { type ComponentChildren, Fragment } from 'preact'
import { useRef } from 'preact/hooks'
import { ApiError, messageOf, type Roots as RootsFound } from '../../client/api/client.ts'
import { SelectField, TextField } from '../../ui/controls.tsx'
import { Button, Notice, Term } from '../../ui/kit.tsx'
import { CLOUDS, visibleText } from '../../ui/words.ts'
import {
  describeProviders,
  type FieldName,
  type FormInput,
  foreignCode,
  idOf,
  NO_PASSWORD,
  rootOf,
  rootsFound,
  SCOPES,
  toSentence,
  whyIncomplete,
} from './form.ts'
import type { Place } from './use-place.ts'

interface PlaceFieldsProps {
  place: Place
  input: FormInput
  change: (input: FormInput) => void
  errorOf: (name: FieldName) => string | undefined
}

/** Shows the place of a request: repository, cloud, scope and engine root. */
export function PlaceFields(props: PlaceFieldsProps) {
  return (
    <div class="start-place">
      <Repository {...props} />
      <Root {...props} />
      <CloudField {...props} />
      <Scope {...props} />
    </div>
  )
}

/**
 * Returns the attributes of a field. An empty field stays empty while it has the focus, so that a known value does not
 * mix with what the user types.
 */
function useField(name: FieldName, { place, input, change, errorOf }: PlaceFieldsProps) {
  const held = useRef(false)
  const value = place.fields[name]
  return {
    id: idOf(name),
    value,
    error: errorOf(name),
    change: (text: string) => change({ [name]: text }),
    autocomplete: 'off',
    autocapitalize: 'off' as const,
    spellcheck: false,
    onFocus: () => {
      held.current = input[name] === undefined && value === ''
      if (held.current) change({ [name]: '' })
    },
    onBlur: () => {
      if (held.current && input[name] === '') change({ [name]: undefined })
      held.current = false
    },
  }
}

function Repository(props: PlaceFieldsProps) {
  const { fields, repositories, address } = props.place
  const field = useField('repo_uri', props)
  const isLast = props.input.repo_uri === undefined && fields.repo_uri !== ''
  return (
    <TextField
      {...field}
      label="Repository"
      error={address === 'secret' ? NO_PASSWORD : field.error}
      hint={isLast ? 'Your last repository.' : 'Its https address.'}
      type="url"
      inputMode="url"
      aria-required
      placeholder="https://github.com/acme/infrastructure.git"
      suggestions={repositories.map((value) => ({ value }))}
    />
  )
}

const MOST_ROOTS = 6

function Root(props: PlaceFieldsProps) {
  const { data } = props.place.roots
  const found = data ? rootsFound(data) : []
  return (
    <TextField
      {...useField('iac_path', props)}
      label="Engine root"
      optional
      hint={
        found.length > 1 ? (
          <>
            Found:{' '}
            {found.slice(0, MOST_ROOTS).map(({ path, kind }) => (
              <Fragment key={path}>
                <Pick pick={() => props.change({ iac_path: path })}>{visibleText(path)}</Pick>
                {kind !== 'root' && `(${kind}) `}
              </Fragment>
            ))}
            {found.length > MOST_ROOTS && `and ${found.length - MOST_ROOTS} more`}
          </>
        ) : (
          'The folder in which the engine runs.'
        )
      }
      placeholder="root of the repository"
      suggestions={found.map(({ path, kind }) => ({
        value: path,
        label: path === '.' ? 'the root of the repository' : kind === 'root' ? undefined : kind,
      }))}
    />
  )
}

function CloudField(props: PlaceFieldsProps) {
  const { known, mapping } = props.place
  const { id, value, error, change } = useField('engine_providers', props)
  const isKnown = props.input.engine_providers === undefined && known.engine_providers !== ''
  return (
    <SelectField
      {...{ id, value, error, change }}
      label="Cloud"
      hint={isKnown && sourceOf(mapping.data?.engine_provider)}
      aria-required
      options={[['', 'Choose'], ...Object.entries(CLOUDS)]}
    />
  )
}

function Scope(props: PlaceFieldsProps) {
  const { place, input, change } = props
  const { fields, known, mapping } = place
  const what = SCOPES[fields.engine_providers]
  const isOther = !!input.scope_id && known.scope_id !== '' && input.scope_id !== known.scope_id
  return (
    <TextField
      {...useField('scope_id', props)}
      label="Scope"
      hint={
        <>
          <Term name="scope">What is this?</Term>{' '}
          {isOther ? (
            <Pick pick={() => change({ scope_id: undefined })}>Use {visibleText(known.scope_id)}</Pick>
          ) : input.scope_id === undefined && known.scope_id !== '' ? (
            sourceOf(mapping.data?.scope_id)
          ) : (
            what && `Here: ${what}.`
          )}
        </>
      }
      aria-required
    />
  )
}

const sourceOf = (mapped: unknown): string => (mapped ? 'From the mapping service.' : 'As in your last session there.')

/** Shows a button within a sentence. */
const Pick = ({ pick, children }: { pick: () => unknown; children: ComponentChildren }) => (
  <button type="button" class="start-pick" onClick={() => void pick()}>
    {children}
  </button>
)

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
  sign: '✓' | '…' | '·' | '!'
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
  const [foreign, incomplete] = [foreignCode(roots.data), whyIncomplete(roots.data)]
  const providers = describeProviders(roots.data, fields.engine_providers)
  return (
    <>
      <Chosen found={roots.data} root={rootOf(fields.iac_path)} />
      {providers && <Line sign="·">{visibleText(providers)}</Line>}
      {foreign && <Line sign="·">{foreign}</Line>}
      {incomplete && <Line sign="!">{incomplete}</Line>}
    </>
  )
}

const KINDS = { root: 'an engine root', example: 'an example', test: 'a test' }

/** Shows what the chosen folder is. */
function Chosen({ found, root }: { found: RootsFound; root: string }) {
  const all = rootsFound(found)
  if (all.length === 0) return <Line sign="!">No folder of the repository looks like an engine root.</Line>
  const kind = all.find(({ path }) => rootOf(path) === root)?.kind
  if (kind)
    return (
      <Line sign="✓">The repository can be read{root !== '' && `, and ${visibleText(root)} is ${KINDS[kind]}`}.</Line>
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
