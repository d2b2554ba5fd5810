import { useState } from 'preact/hooks'

/** Which rows of a list are open: all or none, but for those that were turned by hand. */
export function useOpenRows() {
  const [state, setState] = useState<{ all: boolean; turned: ReadonlySet<string> }>({ all: false, turned: new Set() })
  const isOpen = (key: string) => state.turned.has(key) !== state.all
  const setOpen = (key: string, open: boolean) =>
    setState(({ all, turned }) => {
      const next = new Set(turned)
      if (open === all) next.delete(key)
      else next.add(key)
      return { all, turned: next }
    })
  const setAll = (all: boolean) => setState({ all, turned: new Set() })
  return { isOpen, setOpen, setAll }
}
