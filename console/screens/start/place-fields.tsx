import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Field } from '../../ui/field.tsx'
import { Term } from '../../ui/term.tsx'
import { CLOUDS, visibleText } from '../../ui/words.ts'
import { type FieldName, NO_PASSWORD, SCOPES, type Typed } from './form.ts'
import type { Place } from './use-place.ts'
import { idOf } from './use-request.ts'

interface PlaceFieldsProps {
  place: Place
  typed: Typed
  change: (typed: Typed) => void
  errorOf: (name: FieldName) => string | undefined
}

/** The place that a request is about: repository, cloud, scope and engine root. */
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

function Repository({ place, typed, change, errorOf }: PlaceFieldsProps) {
  const { fields, repositories, address } = place
  const isLast = typed.repo_uri === undefined && fields.repo_uri !== ''
  const hold = useHold('repo_uri', typed, fields.repo_uri, change)
  return (
    <Field
      id={idOf('repo_uri')}
      label="Repository"
      error={address === 'secret' ? NO_PASSWORD : errorOf('repo_uri')}
      hint={isLast ? 'The one that you used last.' : 'Its https address.'}
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

function Root({ place, typed, change, errorOf }: PlaceFieldsProps) {
  const { fields, roots } = place
  const hold = useHold('iac_path', typed, fields.iac_path, change)
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
          'Where the engine runs.'
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
            placeholder="its root"
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

function CloudField({ place, typed, change, errorOf }: PlaceFieldsProps) {
  const { fields, known, mapping } = place
  return (
    <Field
      id={idOf('engine_providers')}
      label="Cloud"
      error={errorOf('engine_providers')}
      hint={
        typed.engine_providers !== undefined || known.engine_providers === ''
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

function Scope({ place, typed, change, errorOf }: PlaceFieldsProps) {
  const { fields, known, mapping } = place
  const what = SCOPES[fields.engine_providers]
  const isOther = !!typed.scope_id && known.scope_id !== '' && typed.scope_id !== known.scope_id
  const hold = useHold('scope_id', typed, fields.scope_id, change)
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
          ) : typed.scope_id === undefined && known.scope_id !== '' ? (
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

const sourceOf = (mapped: unknown): string => (mapped ? 'From the catalogue.' : 'As last time there.')

const Pick = ({ pick, children }: { pick: () => void; children: ComponentChildren }) => (
  <button type="button" class="start-pick" onClick={pick}>
    {children}
  </button>
)

/**
 * Keeps an empty field empty while somebody is in it: what becomes known of the place meanwhile must not appear under
 * their hands, where it would be mixed with what they type. It is filled in once they leave the field empty.
 */
function useHold(name: FieldName, typed: Typed, shown: string, change: (typed: Typed) => void) {
  const held = useRef(false)
  return {
    onFocus: () => {
      held.current = typed[name] === undefined && shown === ''
      if (held.current) change({ [name]: '' })
    },
    onBlur: () => {
      if (held.current && typed[name] === '') change({ [name]: undefined })
      held.current = false
    },
  }
}
