import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../../ui/button.tsx'
import { formatNumber } from '../../../ui/words.ts'

interface FirstOfProps<Item> {
  items: readonly Item[]
  /** How many are drawn before somebody asks for more. */
  count?: number
  children: (shown: readonly Item[]) => ComponentChildren
}

/** The first items of a list that may be long, and a button for as many again. */
export function FirstOf<Item>({ items, count = 50, children }: FirstOfProps<Item>) {
  const [shown, setShown] = useState(count)
  return (
    <>
      {children(items.slice(0, shown))}
      {items.length > shown && (
        <Button small onClick={() => setShown(shown * 4)}>
          Show {formatNumber(Math.min(shown * 3, items.length - shown))} more
        </Button>
      )}
    </>
  )
}
