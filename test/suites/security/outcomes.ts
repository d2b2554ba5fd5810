import type { Reporter, TestCase, TestModule } from 'vitest/node'

const STOPPED_WIDTH = 90

/** Prints a table at the end of the security suite: each attack, by group, with its outcome. */
export class AttackOutcomes implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules
      .flatMap(({ children }) => [...children.allTests()])
      .filter((test) => test.meta().attack !== undefined)
    if (tests.length === 0) return
    const groups = Map.groupBy(tests, (test) => test.meta().attack?.group ?? '')
    const rows = [...groups]
      .sort(([a], [b]) => a.localeCompare(b))
      .flatMap(([group, of]) => [`\n${group}`, ...of.map(row)])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    console.log(
      `\nAttacks and their outcome\n${rows.join('\n')}\n\n${tests.length} attacks: ${count('passed')} stopped, ` +
        `${count('failed')} with an effect, ${count('skipped')} not possible on this machine`,
    )
  }
}

function row(test: TestCase): string {
  const { title = test.name, stoppedBy = '' } = test.meta().attack ?? {}
  const result = test.result()
  if (result.state === 'passed') return `  stopped   ${title}\n            ${shorten(stoppedBy)}`
  if (result.state === 'skipped')
    return `  not run   ${title}\n            ${shorten(result.note ?? 'not possible on this machine')}`
  return `  EFFECT    ${title}\n            ${shorten(result.errors?.[0]?.message ?? 'the test did not end')}`
}

const shorten = (text: string): string => (text.length > STOPPED_WIDTH ? `${text.slice(0, STOPPED_WIDTH - 1)}…` : text)
