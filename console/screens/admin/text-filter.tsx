import { useEffect, useRef, useState } from 'preact/hooks'
import type { Address } from '../../client/use-address.ts'

const TYPING_MS = 300

interface TextFilterProps {
  name: string
  label: string
  type: 'search' | 'text' | 'datetime-local'
  hint?: string
  address: Address
}

/** A filter that is typed. It stands in the address a moment after the last letter, and takes its reader to page 1. */
export function TextFilter({ name, label, type, hint, address }: TextFilterProps) {
  const value = address.read(name)
  const [text, setText] = useState(value)
  const sent = useRef(value)
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setText(value)
  }, [value])
  useEffect(() => {
    if (text.trim() === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text.trim()
      address.change({ [name]: sent.current, page: '' }, { replace: value !== '' })
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div>
      <label class="small quiet" for={`filter-${name}`}>
        {label}
      </label>
      <input
        id={`filter-${name}`}
        type={type as 'text'}
        value={text}
        placeholder={hint}
        maxLength={200}
        autocomplete="off"
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </div>
  )
}
