import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Prints the tests that failed at first and were repeated, with outcome and reason, at the end of a run; nothing if
 * there were none. It has to be the last reporter.
 */
export class RepeatedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const repeated = modules
      .flatMap(({ children }) => [...children.allTests()])
      .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
    if (repeated.length === 0) return
    const count = repeated.length === 1 ? '1 test' : `${repeated.length} tests`
    console.log(
      `\n${count} failed at the first try and ran once more. Mend this before anything else:\n` +
        repeated.map(describe).join('\n'),
    )
  }
}

function describe(test: TestCase): string {
  const { state, errors } = test.result()
  const outcome = state === 'passed' ? 'passed the second time' : 'failed both times'
  const reason = errors?.[0]?.message.split('\n')[0] ?? 'The first failure left no message.'
  return `- ${test.module.relativeModuleId} > ${test.fullName}: ${outcome}.\n  First failure: ${reason}`
}
