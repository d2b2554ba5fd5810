import { useEffect, useRef } from 'preact/hooks'
import { Badge, type Tone } from '../../../ui/badge.tsx'
import { Copy } from '../../../ui/copy.tsx'
import { shorten, visibleText } from '../../../ui/words/text.ts'
import type { Finding } from './filter.ts'

export const SEVERITY_TONES: Record<Finding['severity'], Tone> = {
  critical: 'bad',
  error: 'bad',
  warning: 'warn',
  info: 'neutral',
}

interface FindingItemProps {
  finding: Finding
  /** The address of this finding. */
  link: string
  /** The address of the page names it. */
  linked: boolean
}

/** What a rule says, with how to mend it. */
export function FindingItem({ finding, link, linked }: FindingItemProps) {
  const item = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (!linked) return
    // The list scrolls to the resource first.
    const frame = setTimeout(() => item.current?.focus(), 120)
    return () => clearTimeout(frame)
  }, [linked])
  return (
    <li ref={item} tabIndex={-1} class="review-finding" aria-current={linked || undefined}>
      <p>
        <Badge tone={SEVERITY_TONES[finding.severity]}>{finding.severity}</Badge>{' '}
        {visibleText(shorten(finding.message, 2_000))}
      </p>
      {finding.suggested_fix && <p class="quiet">To mend it: {visibleText(shorten(finding.suggested_fix, 2_000))}</p>}
      <p class="small quiet">
        Rule <span class="mono">{visibleText(shorten(finding.rule_id, 200))}</span>{' '}
        <Copy text={link} label="Copy link to this finding" />
      </p>
    </li>
  )
}
