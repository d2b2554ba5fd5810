/** A failure that the demo explains; the text says what to do. */
export class DemoError extends Error {
  /** True: nothing further can be played, for example because the stack is gone. */
  readonly final: boolean
  constructor(message: string, final = false) {
    super(message)
    this.final = final
  }
}
