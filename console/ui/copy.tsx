import { useEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'

/** Puts a text on the clipboard and says that it did. */
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
