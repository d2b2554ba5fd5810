import { chmod, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseJson } from '../../../../src/base/json.ts'
import type { Operation } from '../../document.ts'
import { isRecord } from '../../schema/schema.ts'
import type { Exchange, Tester } from '../../types.ts'

/** A job as the service described it in the exchange `made`. */
export interface Job {
  made: Exchange
  id: string
  kind: unknown
  status: unknown
  created_at: unknown
  started_at: unknown
  finished_at: unknown
  result: { exit_code: unknown; stdout: string; stderr: string } | null
  error: Record<string, unknown> | null
}

const KEYS = ['job_id', 'kind', 'status', 'created_at', 'started_at', 'finished_at', 'result', 'error']
const STATES = ['queued', 'running', 'succeeded', 'failed']
export const isTerminal = ({ status }: Pick<Job, 'status'>): boolean => status === 'succeeded' || status === 'failed'

/** Submits a job and returns its id. Skips the promise when the service does not see the workspace. */
export async function submit(tester: Tester, operation: Operation, json: object): Promise<string> {
  const made = await tester.ask(operation, { json })
  if (made.status === 404)
    tester.skip(`the service does not see ${tester.options.workspace}: give it a folder that both see with --workspace`)
  if (made.status === 503) tester.skip('the service lacks a prerequisite: it answered 503')
  const id = isRecord(made.json) ? made.json.job_id : undefined
  if (made.status !== 202 || typeof id !== 'string') {
    tester.broken(`a submission was answered ${made.status} without a job`, made)
    return tester.skip('no job')
  }
  return id
}

/** Reads a job once and checks that the answer does not contradict itself. */
export async function poll(tester: Tester, id: string, headers: Record<string, string> = {}): Promise<Job> {
  const made = await tester.ask(tester.contract.operation('job'), { path: { job_id: id }, headers })
  if (made.status !== 200 || !isRecord(made.json)) {
    tester.broken(`a job was answered ${made.status}`, made)
    return tester.skip('no job')
  }
  const { json } = made
  const result = isRecord(json.result) ? json.result : null
  const job: Job = {
    made,
    id,
    kind: json.kind,
    status: json.status,
    created_at: json.created_at,
    started_at: json.started_at,
    finished_at: json.finished_at,
    result: result && { exit_code: result.exit_code, stdout: String(result.stdout), stderr: String(result.stderr) },
    error: isRecord(json.error) ? json.error : null,
  }
  for (const why of contradictions(job, json)) tester.broken(why, made)
  return job
}

/** Polls until the job has ended, and checks that its states only go forwards. */
export async function waitUntilFinished(tester: Tester, id: string): Promise<Job> {
  const limit = performance.now() + tester.options.jobMs
  let before = await poll(tester, id)
  for (let pause = 5; !isTerminal(before); pause = Math.min(pause * 1.5, 250)) {
    if (performance.now() > limit) {
      tester.broken(`the job is still ${String(before.status)} after ${tester.options.jobMs / 1000} s`, before.made)
      return tester.skip('no end')
    }
    await wait(pause)
    const now = await poll(tester, id)
    tester.expect(
      STATES.indexOf(String(now.status)) >= STATES.indexOf(String(before.status)),
      `a ${String(before.status)} job became ${String(now.status)}`,
      now.made,
    )
    before = now
  }
  return before
}

export const ran = async (tester: Tester, operation: Operation, json: object): Promise<Job> =>
  waitUntilFinished(tester, await submit(tester, operation, json))

function contradictions(job: Job, json: Record<string, unknown>): string[] {
  const faults = KEYS.filter((key) => !Object.hasOwn(json, key)).map((key) => `the job has no key ${key}`)
  const { status, result, error, started_at, finished_at, created_at } = job
  if (json.job_id !== job.id) faults.push('the job has another id')
  if ((result !== null) !== (status === 'succeeded'))
    faults.push(`a ${String(status)} job has ${result ? 'a' : 'no'} result`)
  if ((error !== null) !== (status === 'failed'))
    faults.push(`a ${String(status)} job has ${error ? 'an' : 'no'} error`)
  if ((finished_at !== null) !== isTerminal(job))
    faults.push(`a ${String(status)} job has finished_at ${String(finished_at)}`)
  if (status === 'queued' && started_at !== null) faults.push('a queued job has started')
  if ((status === 'running' || status === 'succeeded') && started_at === null)
    faults.push(`a ${String(status)} job has not started`)
  const times = [created_at, started_at, finished_at].filter((time) => time !== null && time !== undefined)
  for (const time of times)
    if (!/(?:Z|[+-]00:00)$/i.test(String(time))) faults.push(`the time ${String(time)} is not in UTC`)
  for (const [index, time] of times.entries())
    if (index > 0 && timeOf(time) < timeOf(times[index - 1]))
      faults.push('created_at, started_at and finished_at are not in order')
  return faults
}

export const timeOf = (time: unknown): number => Date.parse(String(time))

/** Parses the stdout of a job; undefined when it is no JSON. */
export const parseStdout = ({ result }: Job): unknown => parseJson(result?.stdout ?? '')

/** Runs a job of an operation in a workspace to its end. */
export type RunJob = (tester: Tester, id: string, workspace: string, more?: object) => Promise<Job>

export const NOT_OFFERED = 'optional, and this implementation does not offer it'

/** Creates a workspace with these files, which a service that runs as another user can use too. */
export async function createWorkspace(tester: Tester, files: Record<string, string> = {}): Promise<string> {
  const parent = tester.options.workspace
  await chmod(parent, 0o755)
  const path = await mkdtemp(join(parent, 'workspace-'))
  await chmod(path, 0o777)
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content)
  return path
}

/** Lists other spellings of the path of a folder. */
export async function listSpellings(path: string): Promise<string[]> {
  const link = `${path}-link`
  await symlink(path, link)
  return [path, `${path}/`, `${path}/.`, link]
}

/** Code with two resources of the provider that every engine contains. */
export const TWO_RESOURCES = `resource "terraform_data" "first" {
  input = "one"
}

resource "terraform_data" "second" {
  input = "two"
}
`
export const BROKEN = 'resource "terraform_data" {\n'
export const UNFORMATTED = 'variable "days" {\n type=number\n      default = 7\n}\n'
export const FORMATTED = 'variable "days" {\n  type    = number\n  default = 7\n}\n'
