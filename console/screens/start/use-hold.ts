import { useRef } from 'preact/hooks'
import type { FieldName, Typed } from './form.ts'

/**
 * Keeps an empty field empty while somebody is in it: what becomes known of the place meanwhile must not appear under
 * their hands, where it would be mixed with what they type. It is filled in once they leave the field empty.
 */
export function useHold(name: FieldName, typed: Typed, shown: string, change: (typed: Typed) => void) {
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
