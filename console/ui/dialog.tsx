import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from './button.tsx'

interface DialogProps {
  open: boolean
  title: string
  onClose: () => void
  children: ComponentChildren
  actions?: ComponentChildren
}

/** A modal dialog: the element of the browser, which keeps the focus inside and gives it back. */
export function Dialog({ open, title, onClose, children, actions }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const dialog = element.current
    if (open && !dialog?.open) dialog?.showModal()
    if (!open && dialog?.open) dialog.close()
  }, [open])
  return (
    <dialog ref={element} class="dialog" aria-labelledby={heading} onClose={onClose}>
      {open && (
        <>
          <header class="dialog-head">
            <h2 id={heading}>{title}</h2>
            <Button kind="quiet" small aria-label="Close" onClick={onClose}>
              ×
            </Button>
          </header>
          <div class="dialog-body">{children}</div>
          {actions && <footer class="dialog-actions">{actions}</footer>}
        </>
      )}
    </dialog>
  )
}
