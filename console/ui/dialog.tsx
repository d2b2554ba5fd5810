import { useMutation } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button, ErrorNotice } from './kit.tsx'

interface DialogProps {
  open: boolean
  title: string
  onClose: () => void
  children: ComponentChildren
  actions?: ComponentChildren
}

/** Shows a modal dialog with the browser's element, which keeps the focus inside and restores it. */
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

interface ConfirmProps {
  open: boolean
  title: string
  /** The label of the button for the action. */
  action: string
  danger?: boolean
  /** Runs the action. An error is shown in the dialog, which then stays open. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
  children: ComponentChildren
}

/** Asks for confirmation, and shows an error of the action. */
export function Confirm({ open, title, action, danger, onConfirm, onClose, children }: ConfirmProps) {
  const close = () => {
    run.reset()
    onClose()
  }
  const run = useMutation({ mutationFn: onConfirm, onSuccess: close })
  return (
    <Dialog
      open={open}
      title={title}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind={danger ? 'danger' : 'primary'} busy={run.isPending} onClick={() => run.mutate()}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {run.error && <ErrorNotice error={run.error} title="This failed" />}
    </Dialog>
  )
}
