import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { type Options, SelectField, TextField } from '../../ui/field.tsx'
import { Term } from '../../ui/term.tsx'
import { CLOUDS, visibleText } from '../../ui/words.ts'
import { type FieldName, type FormInput, idOf, NO_PASSWORD, SCOPES } from './form.ts'
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

function Repository({ place, input, change, errorOf }: PlaceFieldsProps) {
  const { fields, repositories, address } = place
  const isLast = input.repo_uri === undefined && fields.repo_uri !== ''
  const hold = useHold('repo_uri', input, fields.repo_uri, change)
  return (
    <TextField
      {...hold}
      id={idOf('repo_uri')}
      label="Repository"
      error={address === 'secret' ? NO_PASSWORD : errorOf('repo_uri')}
      hint={isLast ? 'Your last repository.' : 'Its https address.'}
      type="url"
      inputMode="url"
      autocomplete="off"
      spellcheck={false}
      aria-required
      placeholder="https://github.com/acme/infrastructure.git"
      value={fields.repo_uri}
      change={(repo_uri) => change({ repo_uri })}
      suggestions={repositories.map((value) => ({ value }))}
    />
  )
}

const MOST_ROOTS = 6

function Root({ place, input, change, errorOf }: PlaceFieldsProps) {
  const { fields, roots } = place
  const hold = useHold('iac_path', input, fields.iac_path, change)
  const found = roots.data ?? []
  return (
    <TextField
      {...hold}
      id={idOf('iac_path')}
      label="Engine root"
      optional
      error={errorOf('iac_path')}
      hint={
        found.length > 1 ? (
          <>
            Found:{' '}
            {found.slice(0, MOST_ROOTS).map((root) => (
              <Pick key={root} pick={() => change({ iac_path: root })}>
                {visibleText(root)}
              </Pick>
            ))}
            {found.length > MOST_ROOTS && `and ${found.length - MOST_ROOTS} more`}
          </>
        ) : (
          'The folder in which the engine runs.'
        )
      }
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      placeholder="root of the repository"
      value={fields.iac_path}
      change={(iac_path) => change({ iac_path })}
      suggestions={found.map((value) => ({
        value,
        label: value === '.' ? 'the root of the repository' : undefined,
      }))}
    />
  )
}

const CLOUD_OPTIONS: Options = [['', 'Choose'], ...Object.entries(CLOUDS)]

function CloudField({ place: { fields, known, mapping }, input, change, errorOf }: PlaceFieldsProps) {
  const isKnown = input.engine_providers === undefined && known.engine_providers !== ''
  return (
    <SelectField
      id={idOf('engine_providers')}
      label="Cloud"
      error={errorOf('engine_providers')}
      hint={isKnown && sourceOf(mapping.data?.engine_provider)}
      aria-required
      options={CLOUD_OPTIONS}
      value={fields.engine_providers}
      change={(engine_providers) => change({ engine_providers })}
    />
  )
}

function Scope({ place, input, change, errorOf }: PlaceFieldsProps) {
  const { fields, known, mapping } = place
  const what = SCOPES[fields.engine_providers]
  const isOther = !!input.scope_id && known.scope_id !== '' && input.scope_id !== known.scope_id
  const hold = useHold('scope_id', input, fields.scope_id, change)
  return (
    <TextField
      {...hold}
      id={idOf('scope_id')}
      label="Scope"
      error={errorOf('scope_id')}
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
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      aria-required
      value={fields.scope_id}
      change={(scope_id) => change({ scope_id })}
    />
  )
}

const sourceOf = (mapped: unknown): string => (mapped ? 'From the mapping service.' : 'As in your last session there.')

const Pick = ({ pick, children }: { pick: () => void; children: ComponentChildren }) => (
  <button type="button" class="start-pick" onClick={pick}>
    {children}
  </button>
)

/** Keeps an empty field empty while it has the focus, so that a known value does not mix with what the user types. */
function useHold(name: FieldName, input: FormInput, shown: string, change: (input: FormInput) => void) {
  const held = useRef(false)
  return {
    onFocus: () => {
      held.current = input[name] === undefined && shown === ''
      if (held.current) change({ [name]: '' })
    },
    onBlur: () => {
      if (held.current && input[name] === '') change({ [name]: undefined })
      held.current = false
    },
  }
}
