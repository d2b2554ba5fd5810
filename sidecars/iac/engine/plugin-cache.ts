/** A lock that is given in order of asking. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Answers the release, or null when the turn did not come within `ms`; the place in line is then given up. */
  async take(ms: number): Promise<(() => void) | null> {
    const before = this.#last
    let release = () => {}
    this.#last = new Promise((resolve) => {
      release = resolve
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), ms)
    })
    const outcome = await Promise.race([before, late])
    clearTimeout(timer)
    if (outcome !== 'late') return release
    before.then(release)
    return null
  }
}
