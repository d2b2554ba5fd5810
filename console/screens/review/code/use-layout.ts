import { useEffect, useState } from 'preact/hooks'

export type Layout = 'unified' | 'split'

const KEY = 'platform.code-layout'
/** Two versions beside each other need room for two lines of code. */
const WIDE = '(min-width: 70rem)'

/** How this browser shows diffs. On a narrow screen it is always one below the other. */
export function useLayout() {
  const [chosen, setChosen] = useState<Layout>(readKept)
  const [wide, setWide] = useState(() => matchMedia(WIDE).matches)
  useEffect(() => {
    const media = matchMedia(WIDE)
    const look = () => setWide(media.matches)
    media.addEventListener('change', look)
    return () => media.removeEventListener('change', look)
  }, [])
  const choose = (layout: Layout) => {
    setChosen(layout)
    try {
      localStorage.setItem(KEY, layout)
    } catch {
      // The choice then lasts as long as the page.
    }
  }
  return { layout: wide ? chosen : 'unified', wide, choose } as const
}

function readKept(): Layout {
  try {
    return localStorage.getItem(KEY) === 'split' ? 'split' : 'unified'
  } catch {
    return 'unified'
  }
}
