import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { readText, withTemporaryFolder } from '../dev/files.ts'
import { findOnPath } from '../sidecars/iac/engine/find.ts'
import { isJsonObject, type JsonObject } from '../src/base/json.ts'
import { addProviders, readScenario, type Scenario, ScenarioError } from './scenario/scenario.ts'

type Row = Record<string, unknown>

/** Which of the cases in folders are read, by their numbers. */
export const CASES = ['odd', 'even', 'all'] as const
type Cases = (typeof CASES)[number]

/** A case of the data set in a folder of its own. */
export interface CaseFolder {
  /** Name of its scenario, for example `iac-eval/d3-case_175`. */
  name: string
  path: string
}

/** Finds the cases (`difficulty_0N/case_NNN`) in the folder of the data set. The others are not opened. */
export async function findCases(folder: string, cases: Cases): Promise<CaseFolder[]> {
  const paths = (await readdir(folder, { recursive: true }).catch(() => [])).sort()
  return paths.flatMap((path) => {
    const [, difficulty, number] = /^difficulty_0*(\d+)[/\\]case_(\d+)$/.exec(path) ?? []
    if (number === undefined || (cases !== 'all' && Number(number) % 2 !== (cases === 'odd' ? 1 : 0))) return []
    return [{ name: `iac-eval/d${difficulty}-case_${number}`, path: join(folder, path) }]
  })
}

/**
 * Loads the cases of the published IaC-Eval data set as scenarios. Each has a request and a policy in Rego. A case is a
 * folder (`prompt.txt`, `rego_intent.rego`, and in `supplement` files that its code may need), or a row of a CSV or
 * JSONL file with the columns `Prompt` and `Rego intent`.
 * Errors: `ScenarioError` when the folder holds no case.
 */
export async function loadIacEval(folder: string, cases: Cases): Promise<Scenario[]> {
  const found = [...(await readFolders(await findCases(folder, cases))), ...(await readTables(folder))]
  if (found.length === 0)
    throw new ScenarioError(
      `${folder} holds no case: neither difficulty_0N/case_NNN with prompt.txt and rego_intent.rego, ` +
        'nor a CSV or JSONL file with the columns Prompt and "Rego intent".',
    )
  return await Promise.all(found.map(toScenario))
}

interface Case {
  name: string
  prompt: string
  rego: string
  supplement?: Record<string, string>
}

async function readFolders(folders: readonly CaseFolder[]): Promise<Case[]> {
  const read = folders.map(async ({ name, path }) => {
    const text = async (file: string) => ((await readText(join(path, file))) ?? '').trim()
    const [prompt, rego] = [await text('prompt.txt'), await text('rego_intent.rego')]
    if (prompt === '' || rego === '') return []
    return [{ name, prompt, rego, supplement: await readSupplement(path) }]
  })
  return (await Promise.all(read)).flat()
}

/** Reads the files of `supplement` as base64, by their paths in the case. */
async function readSupplement(path: string): Promise<Record<string, string>> {
  const entries = await readdir(join(path, 'supplement'), { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const read = files.sort().map(async (file) => [relative(path, file), await readFile(file, 'base64')])
  return Object.fromEntries(await Promise.all(read))
}

async function readTables(folder: string): Promise<Case[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /\.(csv|jsonl)$/.test(name)).sort()
  const rows: { file: string; number: number; row: Row }[] = []
  for (const file of names) {
    const text = await readFile(join(folder, file), 'utf8')
    const read = file.endsWith('.csv') ? readCsv(text) : readJsonLines(file, text)
    rows.push(...read.map((row, index) => ({ file: file.replace(/\.\w+$/, ''), number: index + 1, row })))
  }
  return rows.flatMap(({ file, number, row }) => {
    const [prompt, rego] = [field(row, 'prompt'), field(row, 'rego intent', 'rego_intent', 'rego')]
    if (prompt === '' || rego === '') return []
    return [{ name: `iac-eval/${file}-${String(number).padStart(3, '0')}`, prompt, rego }]
  })
}

/** The region of most reference solutions, and of the account for which the policies were written. */
const REGION = 'us-east-1'

async function toScenario({ name, prompt, rego, supplement }: Case): Promise<Scenario> {
  const scenario = readScenario(name, {
    cloud: 'aws',
    request: prompt,
    repository: { files: { 'README.md': '# Infrastructure\n' } },
    providers: ['aws'],
    expect: { status: 'completed' },
  })
  return { ...inRegion(await addProviders(scenario), REGION), rego, ...(supplement && { supplement }) }
}

/** Puts the provider of a scenario into another region. */
export function inRegion(scenario: Scenario, region: string): Scenario {
  const { repository } = scenario
  if (!('files' in repository)) return scenario
  const files = Object.entries(repository.files).map(([path, text]) => [
    path,
    path === 'provider-aws.tf' ? text.replace(/(region += )"[^"]*"/, `$1"${region}"`) : text,
  ])
  return { ...scenario, repository: { files: Object.fromEntries(files) } }
}

/** Returns the first of these columns that is not empty, ignoring case. */
function field(row: Row, ...names: string[]): string {
  for (const name of names) {
    const key = Object.keys(row).find((own) => own.trim().toLowerCase() === name)
    const value = key === undefined ? undefined : row[key]
    if (typeof value === 'string' && value.trim() !== '') return value.trim()
  }
  return ''
}

function readJsonLines(file: string, text: string): Row[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    try {
      return [JSON.parse(line) as Row]
    } catch {
      throw new ScenarioError(`${file}: line ${index + 1} is no JSON.`)
    }
  })
}

/**
 * Reads the rows of a CSV text by the names in its first row (RFC 4180: quoted fields may hold commas, doubled quotes
 * and line ends). The first of two equal names counts.
 */
export function readCsv(text: string): Record<string, string>[] {
  const [head = [], ...rows] = cellsOf(text.replace(/^\uFEFF/, ''))
  return rows.map((row) => {
    const record: Record<string, string> = {}
    for (const [column, name] of head.entries()) record[name] ??= row[column] ?? ''
    return record
  })
}

function cellsOf(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  const endRow = () => {
    row.push(cell)
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
    cell = ''
  }
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (quoted) {
      if (char !== '"') cell += char
      else if (text[i + 1] === '"') cell += text[++i]
      else quoted = false
    } else if (char === '"' && cell === '') quoted = true
    else if (char === ',') {
      row.push(cell)
      cell = ''
    } else if (char === '\n') endRow()
    else if (char !== '\r') cell += char
  }
  if (cell !== '' || row.length > 0) endRow()
  return rows
}

/** True if `opa` is on PATH. */
export const hasOpa = async (): Promise<boolean> => (await findOnPath('opa', process.env.PATH ?? '')) !== null

/**
 * Checks a plan with a policy and returns the rules that are `false`, which the data set counts as violated. Policies
 * are in version 0 of the language unless they import version 1.
 */
export const checkPolicy = (rego: string, plan: JsonObject, signal: AbortSignal): Promise<string[]> =>
  withTemporaryFolder(async (folder) => {
    const [policyFile, planFile] = [join(folder, 'policy.rego'), join(folder, 'plan.json')]
    await writeFile(policyFile, rego)
    await writeFile(planFile, JSON.stringify(plan), { mode: 0o600 })
    const form = /^\s*import\s+rego\.v1\b/m.test(rego) ? '--v1-compatible' : '--v0-compatible'
    const name = /^\s*package\s+(\S+)/m.exec(rego)?.[1]
    if (name === undefined) return ['the policy names no package']
    const args = ['eval', form, '--format', 'json', '--input', planFile, '--data', policyFile, `data.${name}`]
    try {
      const { stdout } = await promisify(execFile)('opa', args, {
        timeout: 60_000,
        signal,
        maxBuffer: 64 * 1024 * 1024,
      })
      return findFalseRules(stdout, name)
    } catch (error) {
      signal.throwIfAborted()
      const reason = error instanceof Error ? error.message.slice(0, 300) : 'unknown error'
      return [`the policy could not be evaluated: ${reason}`]
    }
  })

/**
 * Finds the rules of a package that are `false`, in the answer of `opa eval` to its name. A rule that collects parts of
 * the plan may hold `false` deeper inside, which says nothing of the rule.
 */
export function findFalseRules(answer: string, packageName: string): string[] {
  const document = JSON.parse(answer) as { result?: { expressions?: { value?: unknown }[] }[] }
  const value = document.result?.[0]?.expressions?.[0]?.value
  if (!isJsonObject(value)) return ['the policy has no result']
  return Object.entries(value).flatMap(([name, rule]) =>
    rule === false ? [`the policy is not met: ${packageName}.${name}`] : [],
  )
}
