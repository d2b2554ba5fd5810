import type { ComponentChildren, FormHTMLAttributes, LooseInputHTMLAttributes, Ref } from 'preact'
import { useState } from 'preact/hooks'

/** The name of the key that makes a command of another key. */
export const COMMAND = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'

interface CheckProps {
  class?: string
  checked: boolean
  onCheck: (checked: boolean) => void
  children: ComponentChildren
}

/** Shows a checkbox with its label. */
export const Check = ({ checked, onCheck, children, ...rest }: CheckProps) => (
  <label {...rest}>
    <input type="checkbox" checked={checked} onChange={({ currentTarget }) => onCheck(currentTarget.checked)} />
    {children}
  </label>
)

interface SearchFieldProps {
  class?: string
  'aria-label'?: string
  id?: string
  placeholder: string
  value: string
  onSearch: (text: string) => void
}

/** Shows the field of a search. */
export const SearchField = ({ onSearch, ...rest }: SearchFieldProps) => (
  <input {...rest} type="search" onInput={({ currentTarget }) => onSearch(currentTarget.value)} />
)

interface UnfoldProps {
  class?: string
  /** True for a part that is open at first. */
  open?: boolean
  summary: ComponentChildren
  children: ComponentChildren
}

/** Shows a part whose content is drawn only while it is open. */
export function Unfold({ open: atFirst = false, summary, children, ...rest }: UnfoldProps) {
  const [open, setOpen] = useState(atFirst)
  return (
    <details {...rest} open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{summary}</summary>
      {open && children}
    </details>
  )
}

/** Shows a region that scrolls, which the keyboard reaches. */
export const Scrolling = ({
  label,
  children,
  ...rest
}: {
  class: string
  label: string
  children: ComponentChildren
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by the keyboard
  <section {...rest} tabIndex={0} aria-label={label}>
    {children}
  </section>
)

interface FieldProps {
  id: string
  label: ComponentChildren
  hint?: ComponentChildren
  /** The reason why the platform refused the value. */
  error?: string
  optional?: boolean
  /** Receives the attributes that link the control to label, hint and error. */
  children: (control: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ComponentChildren
}

/** Shows a form control with its label, hint and error. */
function Field({ id, label, hint, error, optional, children }: FieldProps) {
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class={`field${error ? ' field-wrong' : ''}`}>
      <label class="field-label" for={id}>
        {label}
        {optional && <span class="field-optional">optional</span>}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

interface ControlProps extends Omit<FieldProps, 'children'> {
  value: string
  change: (value: string) => void
  'aria-required'?: boolean
}
type TextFieldProps = ControlProps & {
  /** The values that are offered while one types, some with a name. */
  suggestions?: readonly { value: string; label?: string | undefined }[]
} & Omit<LooseInputHTMLAttributes, keyof ControlProps>

/** Shows a line of text with its label. */
export function TextField({ change, suggestions, ...given }: TextFieldProps) {
  const { id, label, hint, error, optional, ...input } = given
  return (
    <Field {...{ id, label, hint, error, optional }}>
      {(control) => (
        <>
          <input
            {...control}
            {...(input as { type: 'text' })}
            list={suggestions && `${id}-list`}
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
          {suggestions && (
            <datalist id={`${id}-list`}>
              {suggestions.map((suggestion) => (
                <option key={suggestion.value} {...suggestion} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  )
}

export type Options = readonly (readonly [value: string | number, name: string])[]

interface SelectProps extends Pick<ControlProps, 'change' | 'aria-required'> {
  id?: string
  class?: string
  'aria-label'?: string
  value: string | number
  options: Options
}

/** Shows a list to choose from. */
export const Select = ({ change, options, ...select }: SelectProps) => (
  <select {...select} onChange={({ currentTarget }) => change(currentTarget.value)}>
    {options.map(([value, name]) => (
      <option key={value} value={value}>
        {name}
      </option>
    ))}
  </select>
)

/** Shows a list to choose from behind its name. */
export const NamedSelect = ({ class: name, label, ...select }: SelectProps & { label: ComponentChildren }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the list is the control
  <label class={name}>
    <span>{label}</span>
    <Select {...select} />
  </label>
)

/** Shows a list to choose from with its label, hint and error. */
export const SelectField = ({ label, hint, error, optional, ...select }: ControlProps & { options: Options }) => (
  <Field {...{ id: select.id, label, hint, error, optional }}>{(control) => <Select {...select} {...control} />}</Field>
)

interface TextAreaProps extends ControlProps {
  rows: number
  maxLength?: number
  class?: string
  placeholder?: string
  area?: Ref<HTMLTextAreaElement>
  onKeyDown?: (event: KeyboardEvent) => void
}

/** Shows lines of text with their label. */
export function TextArea({ change, area, ...given }: TextAreaProps) {
  const { id, label, hint, error, optional, ...rest } = given
  return (
    <Field {...{ id, label, hint, error, optional }}>
      {(control) => (
        <textarea
          {...control}
          {...rest}
          ref={area}
          dir="auto"
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** Shows a form that is sent without leaving the page. */
export const Form = ({ send, ...rest }: Omit<FormHTMLAttributes, 'onSubmit'> & { send: () => void }) => (
  <form
    {...rest}
    onSubmit={(event) => {
      event.preventDefault()
      send()
    }}
  />
)
