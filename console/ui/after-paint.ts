/** Does something when the page has drawn what changed, so that the hand is answered first. */
export const afterPaint = (work: () => void): void => void requestAnimationFrame(() => setTimeout(work))
