import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Repeats the same inputs when it is given as `WORLD_SEED`. */
export const SEED = Number(process.env.WORLD_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** The operations that are tested, and the caller. */
export interface Target {
  /** Path or address of the description. */
  description: string
  url: string
  headers: Record<string, string>
  /** Number of operations in the description. */
  operations: number
  /** Text of a configuration file: dictionaries of what exists, and what answers mean at some operations. */
  config: string
  /** Checks that do not hold here, by their names. */
  without?: string[]
}

export interface Found {
  /** Requests that were sent. */
  cases: number
  /** The findings as readable text; empty when there is none. */
  report: string
}

interface Report {
  test_cases: { generated: number; unique_failures: number; errored: number }
  errors: unknown[]
}

const LIMIT_MS = 40 * 60_000

/**
 * Runs Schemathesis once with all of its checks.
 * @param options.examples generated requests for each operation beside the systematic ones
 * @param options.phases the default are all
 */
export async function runSchemathesis(
  target: Target,
  options: { seed: number; examples: number; phases?: string },
): Promise<Found> {
  const folder = await mkdtemp(join(tmpdir(), 'schemathesis-'))
  const report = join(folder, 'report.json')
  const config = join(folder, 'schemathesis.toml')
  await writeFile(config, target.config)
  const headers = Object.entries(target.headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
  const args = [
    ...['--config-file', config, 'run', target.description, '--url', target.url, ...headers],
    ...(target.without ?? []).flatMap((name) => ['--exclude-checks', name]),
    ...['--checks', 'all', '--continue-on-failure', '--no-color', '--seed', String(options.seed)],
    ...['--max-examples', String(options.examples), '--phases', options.phases ?? 'examples,coverage,fuzzing,stateful'],
    ...['--suppress-health-check', 'all', '--generation-database', 'none', '--warnings', 'off'],
    ...['--report', 'json', '--report-json-path', report],
  ]
  try {
    const output = await new Promise<string>((resolve) => {
      const limits = { cwd: folder, timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 }
      execFile(process.env.SCHEMATHESIS ?? 'schemathesis', args, limits, (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      )
    })
    const text = await readFile(report, 'utf8').catch(() => null)
    if (text === null) return { cases: 0, report: `Schemathesis did not end:\n${output}` }
    const { test_cases, errors } = JSON.parse(text) as Report
    const isClean = test_cases.unique_failures + test_cases.errored + errors.length === 0
    return { cases: test_cases.generated, report: isClean ? '' : output }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
