import type { ComponentChildren, LooseInputHTMLAttributes } from 'preact'

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
export function Field({ id, label, hint, error, optional, children }: FieldProps) {
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

export type Options = readonly (readonly [value: string, name: string])[]

interface SelectProps extends Pick<ControlProps, 'id' | 'value' | 'change' | 'aria-required'> {
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

/** Shows a list to choose from with its label. */
export const SelectField = ({ label, hint, error, optional, ...select }: ControlProps & SelectProps) => (
  <Field {...{ id: select.id, label, hint, error, optional }}>{(control) => <Select {...select} {...control} />}</Field>
)
