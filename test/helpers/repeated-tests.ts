import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Ends the output of a run with the tests that failed at their first try and were repeated, each with what became of
 * it and why it failed. Prints nothing when no test was repeated. Comes last in the list of reporters.
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
