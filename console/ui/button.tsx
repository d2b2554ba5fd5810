import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'

interface Props extends Omit<JSX.IntrinsicElements['button'], 'kind'> {
  kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  small?: boolean
  /** True while an action is pending: the button stays focusable, shows that, and does nothing. */
  busy?: boolean
  children: ComponentChildren
}

export function Button({ kind = 'plain', small, busy, children, onClick, type = 'button', ...rest }: Props) {
  return (
    <button
      {...rest}
      type={busy ? 'button' : type}
      class={`button button-${kind}${small ? ' button-small' : ''} ${rest.class ?? ''}`}
      aria-busy={busy || undefined}
      aria-disabled={busy || rest['aria-disabled']}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      {busy && <span class="spinner" aria-hidden="true" />}
      {children}
    </button>
  )
}

/** Copies a text to the clipboard and confirms it. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <Button kind="quiet" small onClick={() => void navigator.clipboard?.writeText(text).then(() => setCopied(true))}>
      <span aria-live="polite">{copied ? 'Copied' : label}</span>
    </Button>
  )
}
