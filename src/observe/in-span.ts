/** Does work in a span, which ends with its result or fails with its error. Errors: those of the work. */
export async function inSpan<T>(
  span: { end(result: NoInfer<T>): void; fail(error: unknown): void } | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work()
    span?.end(result)
    return result
  } catch (error) {
    span?.fail(error)
    throw error
  }
}
