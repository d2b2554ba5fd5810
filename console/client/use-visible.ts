import { useEffect, useState } from 'preact/hooks'

/** Whether somebody can see this page. Hidden ones are told late, so that a short look elsewhere costs no connection. */
const HIDDEN_AFTER_MS = 15_000

export function useVisible(): boolean {
  const [visible, setVisible] = useState(!document.hidden)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      clearTimeout(timer)
      if (document.hidden) timer = setTimeout(() => setVisible(false), HIDDEN_AFTER_MS)
      else setVisible(true)
    }
    document.addEventListener('visibilitychange', look)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
  return visible
}
