import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Field } from '../../ui/field.tsx'
import { Term } from '../../ui/term.tsx'
import { CLOUDS, visibleText } from '../../ui/words.ts'
import { type FieldName, type FormInput, NO_PASSWORD, SCOPES } from './form.ts'
import type { Place } from './use-place.ts'
import { idOf } from './use-request.ts'

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
    <Field
      id={idOf('repo_uri')}
      label="Repository"
      error={address === 'secret' ? NO_PASSWORD : errorOf('repo_uri')}
      hint={isLast ? 'Your last repository.' : 'Its https address.'}
    >
      {(control) => (
        <>
          <input
            {...control}
            {...hold}
            type="url"
            inputMode="url"
            list="start-repositories"
            autocomplete="off"
            spellcheck={false}
            aria-required
            placeholder="https://github.com/acme/infrastructure.git"
            value={fields.repo_uri}
            onInput={({ currentTarget }) => change({ repo_uri: currentTarget.value })}
          />
          <datalist id="start-repositories">
            {repositories.map((uri) => (
              <option key={uri} value={uri} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

const MOST_ROOTS = 6

function Root({ place, input, change, errorOf }: PlaceFieldsProps) {
  const { fields, roots } = place
  const hold = useHold('iac_path', input, fields.iac_path, change)
  const found = roots.data ?? []
  return (
    <Field
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
    >
      {(control) => (
        <>
          <input
            {...control}
            {...hold}
            list="start-roots"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="root of the repository"
            value={fields.iac_path}
            onInput={({ currentTarget }) => change({ iac_path: currentTarget.value })}
          />
          <datalist id="start-roots">
            {found.map((root) => (
              <option key={root} value={root} label={root === '.' ? 'the root of the repository' : undefined} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

function CloudField({ place, input, change, errorOf }: PlaceFieldsProps) {
  const { fields, known, mapping } = place
  return (
    <Field
      id={idOf('engine_providers')}
      label="Cloud"
      error={errorOf('engine_providers')}
      hint={
        input.engine_providers !== undefined || known.engine_providers === ''
          ? undefined
          : sourceOf(mapping.data?.engine_provider)
      }
    >
      {(control) => (
        <select
          {...control}
          aria-required
          value={fields.engine_providers}
          onChange={({ currentTarget }) => change({ engine_providers: currentTarget.value })}
        >
          <option value="">Choose</option>
          {Object.entries(CLOUDS).map(([cloud, name]) => (
            <option key={cloud} value={cloud}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

function Scope({ place, input, change, errorOf }: PlaceFieldsProps) {
  const { fields, known, mapping } = place
  const what = SCOPES[fields.engine_providers]
  const isOther = !!input.scope_id && known.scope_id !== '' && input.scope_id !== known.scope_id
  const hold = useHold('scope_id', input, fields.scope_id, change)
  return (
    <Field
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
    >
      {(control) => (
        <input
          {...control}
          {...hold}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-required
          value={fields.scope_id}
          onInput={({ currentTarget }) => change({ scope_id: currentTarget.value })}
        />
      )}
    </Field>
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
