import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FLAKY = '- tries.case.ts > a test > passes the second time: passed the second time.'
const FLAKY_REASON = '  First failure: number of tries: expected 1 to be 2 // Object.is equality'
const BROKEN = '- tries.case.ts > a test > always fails: failed both times.'
const BROKEN_REASON = "  First failure: expected 'black' to be 'white' // Object.is equality"

/** Runs the fixture's tests whose name matches, with the project's retry and reporters. */
async function runCases(names: string, environment: Record<string, string>) {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const config = join(import.meta.dirname, 'fixtures/repeated/vitest.config.ts')
  // Inherits only the path, because variables of the outer run would reach the inner one.
  const env = { PATH: process.env.PATH, NO_COLOR: '1', ...environment }
  const child = spawn(process.execPath, [vitest, 'run', '--config', config, '-t', names], { cwd: ROOT, env })
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, output: output.trimEnd(), all: output + errors }
}

describe('a run in continuous integration', () => {
  it('repeats what fails, passes, and ends with the name of the test and its first failure', async () => {
    const { code, output, all } = await runCases('passes', { CI: 'true' })
    expect(code, all).toBe(0)
    const last = [
      '1 test failed at the first try and ran once more. Mend this before anything else:',
      FLAKY,
      FLAKY_REASON,
    ]
    expect(output.split('\n').slice(-4)).toEqual(['', ...last])
  })

  it('fails when a test fails twice, and ends with the names of both', async () => {
    const { code, output, all } = await runCases('', { CI: 'true' })
    expect(code, all).toBe(1)
    const first = '2 tests failed at the first try and ran once more. Mend this before anything else:'
    expect(output.split('\n').slice(-6)).toEqual(['', first, FLAKY, FLAKY_REASON, BROKEN, BROKEN_REASON])
  })

  it('says nothing about repetition when nothing failed', async () => {
    const { code, all } = await runCases('passes at once', { CI: 'true' })
    expect(code, all).toBe(0)
    expect(all).toContain('1 passed')
    expect(all).not.toContain('once more')
  })
})

describe("a run on a developer's machine", () => {
  it.each<Record<string, string>>([
    {},
    { CI: '' },
    { CI: 'false' },
  ])('fails at the first failure and repeats nothing: %o', async (environment) => {
    const { code, all } = await runCases('passes', environment)
    expect(code, all).toBe(1)
    expect(all).toContain('1 failed')
    expect(all).toContain('expected 1 to be 2')
    expect(all).not.toContain('once more')
  })
})
