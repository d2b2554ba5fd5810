import { useEffect, useState } from 'preact/hooks'

const PHONE = '(max-width: 52rem)'
const ROW_REM = 3.75
const CARD_REM = 5.75

const read = () =>
  Math.round(
    (matchMedia(PHONE).matches ? CARD_REM : ROW_REM) *
      Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
  )

/** The height of a row in pixels: all have the same, so that a list of any length knows where each one stands. */
export function useRowHeight(): number {
  const [height, setHeight] = useState(read)
  useEffect(() => {
    const look = () => setHeight(read())
    addEventListener('resize', look)
    return () => removeEventListener('resize', look)
  }, [])
  return height
}
