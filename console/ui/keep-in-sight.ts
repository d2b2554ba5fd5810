/** The delays of further checks: later content and the router may move the page. */
const AGAIN_MS = [100, 300, 700, 1_500]
const HANDS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const
/** The height of the bar at the top, which covers content. */
const BAR_PX = 64

/** Scrolls to an element, again while the page settles, until the user scrolls or types. Returns its cancellation. */
export function keepInSight(element: Element, block: ScrollLogicalPosition): () => void {
  const show = () => {
    const { top } = element.getBoundingClientRect()
    if (top < BAR_PX || top > innerHeight - BAR_PX) element.scrollIntoView({ block })
  }
  show()
  const timers = AGAIN_MS.map((ms) => setTimeout(show, ms))
  const stop = () => {
    for (const timer of timers) clearTimeout(timer)
    for (const name of HANDS) removeEventListener(name, stop)
  }
  for (const name of HANDS) addEventListener(name, stop, { passive: true })
  return stop
}
