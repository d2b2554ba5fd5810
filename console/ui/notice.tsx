import type { ComponentChildren } from 'preact'
import { messageOf } from '../client/api/errors.ts'
import type { Tone } from './badge.tsx'
import { Button } from './button.tsx'

interface NoticeProps {
  tone?: Tone
  title?: ComponentChildren
  children?: ComponentChildren
  /** The buttons and links of the remedy. */
  actions?: ComponentChildren
}

export function Notice({ tone = 'neutral', title, children, actions }: NoticeProps) {
  return (
    <div class={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      {title && <p class="notice-title">{title}</p>}
      {children && <div class="notice-body">{children}</div>}
      {actions && <div class="notice-actions">{actions}</div>}
    </div>
  )
}

/** Shows a failed load or action, with a button to retry. */
export function ErrorNotice({ error, title, retry }: { error: unknown; title: string; retry?: () => void }) {
  return (
    <Notice tone="bad" title={title} actions={retry && <Button onClick={retry}>Try again</Button>}>
      {messageOf(error)}
    </Notice>
  )
}

/** Shows an empty list: the reason, and the remedy. */
export function Empty({ title, children, actions }: Omit<NoticeProps, 'tone'>) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div class="empty-body">{children}</div>}
      {actions && <div class="notice-actions">{actions}</div>}
    </div>
  )
}

/** Reserves the space of loading content, so that the page does not move. */
export function Skeleton({ lines = 3, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} class="skeleton-line" style={{ width: `${92 - ((index * 23) % 40)}%` }} />
      ))}
    </div>
  )
}
