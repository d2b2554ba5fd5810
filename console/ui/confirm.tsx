import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { ErrorNotice } from './notice.tsx'

interface ConfirmProps {
  open: boolean
  title: string
  /** The word on the button that does it. */
  action: string
  danger?: boolean
  /** What the platform refused comes as an error and is shown; the dialog then stays open. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
  children: ComponentChildren
}

/** Asks before something is done, and says when it could not be. */
export function Confirm({ open, title, action, danger, onConfirm, onClose, children }: ConfirmProps) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const close = () => {
    setError(null)
    onClose()
  }
  const confirm = async () => {
    setBusy(true)
    setError(null)
    try {
      await onConfirm()
      close()
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      open={open}
      title={title}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind={danger ? 'danger' : 'primary'} busy={busy} onClick={() => void confirm()}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {error !== null && <ErrorNotice error={error} title="This was not done" />}
    </Dialog>
  )
}
