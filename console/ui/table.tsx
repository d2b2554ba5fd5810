import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from './kit.tsx'
import { formatNumber } from './words.ts'

/** A column heading: plain, of numbers, or for screen readers only. */
type Heading = string | VNode | { number: string } | { unseen: string }

interface TableProps {
  head: readonly Heading[]
  /** The caption, for screen readers only. */
  caption?: string
  /** The last row. */
  foot?: VNode
  class?: string
  children: ComponentChildren
}

const headingOf = (heading: Heading) => {
  if (typeof heading !== 'object') return heading
  if ('number' in heading) return heading.number
  return 'unseen' in heading ? <span class="unseen">{heading.unseen}</span> : heading
}

/** Shows a table with one row of column headings. */
export const Table = ({ head, caption, foot, children, ...rest }: TableProps) => (
  <table {...rest}>
    {caption && <caption class="unseen">{caption}</caption>}
    <thead>
      <tr>
        {head.map((heading, index) => (
          <th key={index} scope="col" class={typeof heading === 'object' && 'number' in heading ? 'number' : undefined}>
            {headingOf(heading)}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>{children}</tbody>
    {foot && <tfoot>{foot}</tfoot>}
  </table>
)

interface FirstOfProps<Item> {
  items: readonly Item[]
  /** The number of items that are shown first. */
  count?: number
  children: (shown: readonly Item[]) => ComponentChildren
}

/** Shows the first items of a list, and a button for more. */
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
