import { useRouter } from '@tanstack/react-router'
import { useMemo } from 'preact/hooks'

/** What a plain link to a session needs. A click that asks for another tab is left to the browser. */
export function useOpener() {
  const router = useRouter()
  return useMemo(
    () => ({
      hrefOf: (uuid: string) => `${router.basepath}/sessions/${uuid}`,
      open: (event: MouseEvent, uuid: string) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0) return
        event.preventDefault()
        void router.navigate({ to: `/sessions/${uuid}` as never })
      },
    }),
    [router],
  )
}
