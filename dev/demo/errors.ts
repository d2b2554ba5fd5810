/** A failure that the demo explains. The text says what to do about it. */
export class DemoError extends Error {
  /** True when no other mode can be played either, for example because the stack is gone. */
  readonly final: boolean
  constructor(message: string, final = false) {
    super(message)
    this.final = final
  }
}
