import { inSpan } from '../../src/observe/in-span.ts'
import type { RunTrace } from '../../src/observe/run-trace.ts'

/** Does engine work in a span of the trace, which ends with the success and the text that `endOf` returns. */
export async function traceEngine<T>(
  { trace }: { trace?: RunTrace },
  [kind, input]: Parameters<RunTrace['engine']>,
  work: () => Promise<T>,
  endOf: (result: T) => [isOk: boolean, text: string],
): Promise<T> {
  const span = trace?.engine(kind, input)
  return await inSpan(span && { ...span, end: (result: T) => span.end(...endOf(result)) }, work)
}
