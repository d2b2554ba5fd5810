import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'

/** The first test that failed. */
export interface Killer {
  /** From the root of the project; null when no file of tests was begun. */
  file: string | null
  test: string
}

/** How a run of test files ended. */
export type Verdict = { kind: 'passed' } | { kind: 'failed'; killer: Killer } | { kind: 'timeout' }

export interface Tests {
  /** Files of `npm test`, from the root of the project, with `/`. */
  files: readonly string[]
  /** Stops at the first test that fails. Without files: passed. */
  run(files: readonly string[], timeoutMs: number): Promise<Verdict>
}

const Package = v.object({ scripts: v.object({ test: v.string() }) })
const Listed = v.array(v.object({ file: v.string() }))
const Results = v.object({
  testResults: v.array(
    v.object({
      name: v.string(),
      status: v.string(),
      message: v.optional(v.string()),
      assertionResults: v.array(v.object({ status: v.string(), fullName: v.string() })),
    }),
  ),
})

/**
 * The tests that `npm test` of the project in this folder runs.
 * Errors: a plain one when its script is not `vitest run …`, or when vitest cannot list its files.
 */
export async function findTests(root: string): Promise<Tests> {
  const { scripts } = v.parse(Package, JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  const [command, verb, ...options] = scripts.test.split(/\s+/)
  if (command !== 'vitest' || verb !== 'run') throw new Error('The script test of package.json is not "vitest run …".')
  const listed = await vitest(root, ['list', '--filesOnly', '--json', ...options], 120_000)
  if (listed.code !== 0) throw new Error(`vitest cannot list its files: ${listed.errors}`)
  const files = v.parse(Listed, JSON.parse(listed.output)).map(({ file }) => file.slice(root.length + 1))
  return {
    files: [...new Set(files)].sort(),
    run: async (some, timeoutMs) => (some.length === 0 ? { kind: 'passed' } : runFiles(root, options, some, timeoutMs)),
  }
}

const REPORT = 'mutation-report.json'

async function runFiles(
  root: string,
  options: readonly string[],
  files: readonly string[],
  timeoutMs: number,
): Promise<Verdict> {
  const report = join(root, REPORT)
  await rm(report, { force: true })
  const once = ['--bail=1', '--maxWorkers=1', '--no-file-parallelism', '--reporter=json', `--outputFile=${report}`]
  const { code } = await vitest(root, ['run', ...options, ...once, ...files], timeoutMs)
  if (code === 0) return { kind: 'passed' }
  if (code === null) return { kind: 'timeout' }
  return { kind: 'failed', killer: await firstFailure(root, report) }
}

async function firstFailure(root: string, report: string): Promise<Killer> {
  const text = await readFile(report, 'utf8').catch(() => null)
  if (text === null) return NO_TEST
  const { testResults } = v.parse(Results, JSON.parse(text))
  // Files that were not begun because another one had failed count as failed too, without a test of theirs.
  for (const { name, assertionResults } of testResults) {
    const test = assertionResults.find(({ status }) => status === 'failed')
    if (test) return { file: name.slice(root.length + 1), test: test.fullName }
  }
  const broken = testResults.find(({ status, message }) => status === 'failed' && message)
  return broken ? { file: broken.name.slice(root.length + 1), test: 'the file itself' } : NO_TEST
}

/** The run itself failed, for example because its database could not be prepared. */
const NO_TEST: Killer = { file: null, test: 'the run itself, before any test' }

interface Ended {
  /** Null when it took too long. */
  code: number | null
  output: string
  errors: string
}

/** Sent by somebody: that says nothing about a mutant. */
const STOPPED = new Set<NodeJS.Signals | null>(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'])

/** A process group of its own, so that nothing of a run that hangs is left. */
function vitest(root: string, args: readonly string[], timeoutMs: number): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const entry = join(root, 'node_modules/vitest/vitest.mjs')
    const child = spawn(process.execPath, [entry, ...args], {
      cwd: root,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...outerEnvironment(), NO_COLOR: '1' },
    })
    let [output, errors, late] = ['', '', false]
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text
    })
    const killGroup = () => {
      try {
        if (child.pid) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It had just ended.
      }
    }
    const timer = setTimeout(() => {
      late = true
      killGroup()
    }, timeoutMs)
    const end = () => {
      clearTimeout(timer)
      process.off('exit', killGroup)
    }
    process.once('exit', killGroup)
    child.once('error', (error) => {
      end()
      reject(error)
    })
    child.once('close', (code, signal) => {
      end()
      if (!late && STOPPED.has(signal)) reject(new Error(`The run of tests was ended by ${signal}.`))
      else resolve({ code: late ? null : (code ?? 1), output, errors })
    })
  })
}

/** What a run of vitest tells its own tests is not meant for the runs below it. */
const outerEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV$|TEST$)/.test(name)))
