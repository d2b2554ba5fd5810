import { mkdirSync } from 'node:fs'
import { appendFile, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readText } from '../dev/files.ts'

export interface SampleResult {
  scenario: string
  /** Hash of the scenario. A scenario that was changed counts as another one. */
  hash: string
  model: string
  /** Number of the sample. The first is 1. */
  sample: number
  passed: boolean
  /** Unmet expectations as texts; empty if the sample passed. */
  failures: string[]
  status: string
  session_id: string | null
  attempts: number
  input_tokens: number
  cached_tokens: number
  output_tokens: number
  /** US dollars; null when the price of a model is not known. */
  cost_usd: number | null
  duration_s: number
  finished_at: string
}

export interface ResultStore {
  results: readonly SampleResult[]
  add(result: SampleResult): Promise<void>
}

export const keyOf = ({
  scenario,
  hash,
  model,
  sample,
}: Pick<SampleResult, 'scenario' | 'hash' | 'model' | 'sample'>): string =>
  JSON.stringify([scenario, hash, model, sample])

/** Reads earlier results, and appends new ones. An unfinished last line is ignored, so that its sample runs again. */
export async function openResults(path: string): Promise<ResultStore> {
  mkdirSync(dirname(path), { recursive: true })
  const text = (await readText(path)) ?? ''
  const byKey = new Map<string, SampleResult>()
  for (const line of text.split('\n')) {
    const result = readLine(line)
    if (result) byKey.set(keyOf(result), result)
  }
  // Without the line break the next line would be joined to the unfinished one.
  if (text !== '' && !text.endsWith('\n')) await appendFile(path, '\n')
  const results = [...byKey.values()]
  return {
    results,
    add: async (result) => {
      results.push(result)
      const file = await open(path, 'a', 0o600)
      try {
        await file.writeFile(`${JSON.stringify(result)}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
    },
  }
}

function readLine(line: string): SampleResult | null {
  try {
    const value = JSON.parse(line) as SampleResult
    return typeof value.scenario === 'string' && typeof value.passed === 'boolean' && Number.isInteger(value.sample)
      ? value
      : null
  } catch {
    return null
  }
}
