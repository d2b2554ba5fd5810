import type { ComponentChildren } from 'preact'

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
