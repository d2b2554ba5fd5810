import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

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

interface SelectProps {
  class: string
  name: ComponentChildren
  'aria-label'?: string
  value: string | number
  options: readonly (readonly [value: string | number, name: string])[]
  onSelect: (value: string) => void
}

/** Shows a list of which one option is selected, behind its name. */
export const Select = ({ class: classes, name, options, onSelect, ...rest }: SelectProps) => (
  <label class={classes}>
    <span>{name}</span>
    <select {...rest} onChange={({ currentTarget }) => onSelect(currentTarget.value)}>
      {options.map(([value, shown]) => (
        <option key={value} value={value}>
          {shown}
        </option>
      ))}
    </select>
  </label>
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
