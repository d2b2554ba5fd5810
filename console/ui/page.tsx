import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface PageProps {
  title: string
  /** The line above the title, for example the parent of the page. */
  kicker?: ComponentChildren
  /** The text below the title. */
  lead?: ComponentChildren
  actions?: ComponentChildren
  wide?: boolean
  children: ComponentChildren
}

/** Shows the frame of a screen. Its heading gets the focus after navigation, so that screen readers announce it. */
export function Page({ title, kicker, lead, actions, wide, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Platform`
  }, [title])
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement?.closest('nav')) heading.current?.focus()
  }, [])
  return (
    <div class={wide ? 'page page-wide' : 'page'}>
      <header class="page-head">
        <div class="page-heading">
          {kicker && <div class="page-kicker">{kicker}</div>}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <div class="page-lead">{lead}</div>}
        </div>
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}
