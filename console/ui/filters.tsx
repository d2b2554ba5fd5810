import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Address, AnySearch } from '../client/use-address.ts'
import { type Options, Select } from './controls.tsx'

/** Returns the text of a field and its setter. The text is sent trimmed, a moment after the last letter. */
export function useTyped(value: string, send: (text: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  // The address also changes without typing: back, forward, and cleared filters.
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setText(value)
  }, [value])
  useEffect(() => {
    if (text.trim() === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text.trim()
      send(sent.current)
    }, 300)
    return () => clearTimeout(timer)
  }, [text])
  return [text, setText]
}

interface FilterProps {
  /** The search parameter of the filter. A change leads to page 1. */
  name: keyof AnySearch
  label: string
  address: Address
}

const Filter = ({ name, label, children }: Omit<FilterProps, 'address'> & { children: ComponentChildren }) => (
  <div>
    <label class="small quiet" for={`filter-${name}`}>
      {label}
    </label>
    {children}
  </div>
)

interface TextFilterProps extends FilterProps {
  type: 'search' | 'text' | 'url' | 'date' | 'datetime-local'
  hint?: string
}

/** Shows a filter with a text field. */
export function TextFilter({ name, label, type, hint, address }: TextFilterProps) {
  const value = address.read(name)
  const [text, setText] = useTyped(value, (next) =>
    address.change({ [name]: next, page: '' }, { replace: value !== '' }),
  )
  return (
    <Filter name={name} label={label}>
      <input
        id={`filter-${name}`}
        type={type as 'text'}
        value={text}
        placeholder={hint}
        maxLength={type === 'url' ? 2048 : 200}
        autocomplete="off"
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </Filter>
  )
}

/** Shows a filter with a list. */
export function SelectFilter({ options, all = 'All', ...filter }: FilterProps & { options: Options; all?: string }) {
  const { name, address } = filter
  const value = address.read(name)
  const isKnown = value === '' || options.some(([option]) => option === value)
  const unknown: Options = isKnown ? [] : [[value, `Unknown: ${value.slice(0, 40)}`]]
  return (
    <Filter {...filter}>
      <Select
        id={`filter-${name}`}
        value={value}
        change={(chosen) => address.change({ [name]: chosen, page: '' })}
        options={[['', all], ...unknown, ...options]}
      />
    </Filter>
  )
}
