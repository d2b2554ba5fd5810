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

/**
 * Returns the attributes of a field. An empty field stays empty while it has the focus, so that a known value does not mix
 * with what the user types.
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
  const found = props.place.roots.data ?? []
  return (
    <TextField
      {...useField('iac_path', props)}
      label="Engine root"
      optional
      hint={
        found.length > 1 ? (
          <>
            Found:{' '}
            {found.slice(0, MOST_ROOTS).map((root) => (
              <Pick key={root} pick={() => props.change({ iac_path: root })}>
                {visibleText(root)}
              </Pick>
            ))}
            {found.length > MOST_ROOTS && `and ${found.length - MOST_ROOTS} more`}
          </>
        ) : (
          'The folder in which the engine runs.'
        )
      }
      placeholder="root of the repository"
      suggestions={found.map((value) => ({
        value,
        label: value === '.' ? 'the root of the repository' : undefined,
      }))}
    />
  )
}

const CLOUD_OPTIONS: Options = [['', 'Choose'], ...Object.entries(CLOUDS)]

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
      options={CLOUD_OPTIONS}
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
export const Pick = ({ pick, children }: { pick: () => unknown; children: ComponentChildren }) => (
  <button type="button" class="start-pick" onClick={() => void pick()}>
    {children}
  </button>
)
