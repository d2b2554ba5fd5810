import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Context } from '../../../src/context.ts'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'
import type { ApplyReport } from '../../../src/reports/schemas.ts'
import { acceptRound } from '../../../src/rounds/accept.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { textsOf } from './artifacts.ts'
import { goodRound, MAIN, type Scripts } from './scripts.ts'
import { firstRound, nextRound, planPath, type RoundContext, type SessionView, type Stack } from './stack.ts'

/** The model's report of an apply. Code corrects what disagrees with the engine. */
export const TOLD = {
  summary: { total_resources: 1, created: 1, updated: 0, destroyed: 0, failed: 0 },
  status: 'Success',
  execution_summary: 'The second greeting exists now.',
  resource_changes: [
    {
      resource_type: 'terraform_data',
      resource_name: 'second',
      action: 'created',
      status: 'success',
      details: 'A second greeting.',
    },
  ],
  recommendations: [],
}

export const applyScripts = (changes: Scripts = {}) =>
  goodRound({ generate_engine_apply_report: { args: TOLD }, ...changes })
export const applyLlm = (changes: Scripts = {}) => scriptedLlm(applyScripts(changes))

export const contextOf = (stack: Stack, changes: Partial<Context> = {}, scripts: Scripts = {}) =>
  stack.context(applyLlm(scripts), changes)

export async function sessionWithPlan(
  stack: Stack,
  context: Context = contextOf(stack),
  files: Record<string, string> = { 'main.tf': MAIN },
  iac_path: string | null = null,
) {
  const repo_uri = await stack.repository(files)
  const session = await firstRound(stack, context, { repo_uri, iac_path })
  if (session.statuses.at(-1) !== 'completed')
    throw new Error(`the plan was not pinned: ${session.messages.at(-1)} ${session.failures}`)
  return { ...session, repo_uri, context }
}

export const applyRound = (stack: Stack, context: RoundContext, uuid: string): Promise<SessionView> =>
  nextRound(stack, context, uuid, 'Engine apply.', { mode: 'apply' })

/** Accepts an apply that waits for a worker. */
export const requestApply = (context: Context, session_uuid: string) =>
  acceptRound(context, { session_uuid, mode: 'apply', query: 'Engine apply.', is_partial: false })

/** Asserts that an apply round ended with this message, that the engine got no job, and that no plan stays pinned. */
export async function expectNotApplied(stack: Stack, session: SessionView, message: string): Promise<void> {
  expect(session.messages.at(-1)).toBe(message)
  expect(applyJobs(stack, session.uuid)).toEqual([])
  expect(await leftOfPlan(stack, session.uuid)).toEqual(DISCARDED)
}

/** Reads the report documents of a session's apply rounds, oldest first. */
export async function applyReports(stack: Stack, uuid: string): Promise<ApplyReport[]> {
  const texts = await textsOf(stack, uuid, 'report')
  return texts.map((text) => JSON.parse(text)).filter((document) => 'resource_changes' in document)
}

interface JobEntry {
  job_id: string
  kind: string
  workspace_path: string
  created_at: string
  status: string
  exit_code: number | null
  /** The process of the engine, while it runs and is recorded by the sidecar. */
  process: object | null
}

/** Reads the sidecar's job records in the order of submission: those in a session's directories, else all. */
export function recordedJobs(folder: string, uuid = ''): JobEntry[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name): JobEntry => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    .filter(({ workspace_path }) => workspace_path.includes(uuid))
    .sort((a, b) => a.created_at.localeCompare(b.created_at))
}
const folderOf = (stack: Stack) => join(stack.config.paths.upload_folder, '..', 'iac', 'jobs')

/** Lists the apply jobs that the sidecar has accepted for a session. */
export const applyJobs = (stack: Stack, uuid: string, folder = folderOf(stack)): JobEntry[] =>
  recordedJobs(folder, uuid).filter(({ kind }) => kind === 'apply')

export const jobsOf = (stack: Stack, uuid: string): string[] =>
  recordedJobs(folderOf(stack), uuid).map(({ kind }) => kind)

/** Lists the addresses in the managed state of a repository's root. */
export async function managedState(
  context: Context,
  repo_uri: string,
  iac_path: string | null = null,
): Promise<string[]> {
  const id = await deriveProjectId(repo_uri, 'acme-test', iac_path)
  const bytes = await context.stateStore?.get(`${id}/terraform.tfstate`).catch((error: { status?: number }) => {
    if (error.status !== 404) throw error
  })
  if (!bytes) return []
  const { resources } = JSON.parse(new TextDecoder().decode(bytes)) as {
    resources: { type: string; name: string; instances: unknown[] }[]
  }
  return resources.filter(({ instances }) => instances.length > 0).map(({ type, name }) => `${type}.${name}`)
}

/** Lists what is left of a saved plan: directory, row and stored copy. */
export async function leftOfPlan(stack: Stack, uuid: string): Promise<{ directory: boolean; plans: number }> {
  const plans = await stack.database
    .sql`SELECT 1 FROM saved_plans p JOIN sessions s ON s.id = p.session_id WHERE p.ended_at IS NULL AND s.uuid = ${uuid}`
  return { directory: existsSync(planPath(stack, uuid)), plans: plans.length }
}

/** The end of an apply round without a reviewed plan. */
export const NOT_SAVED =
  'runner failed: No reviewed plan is pinned for this session; run a generate round before applying.'

export const DISCARDED = { directory: false, plans: 0 }

/** Wraps a context with a notifications sidecar; `sent` are the bodies that it received. */
export function withNotifications(context: Context): {
  context: Context
  sent: { kind: string; subject: string; body: string }[]
} {
  const sent: { kind: string; subject: string; body: string }[] = []
  const { services } = context.config
  const notifications = {
    ...services.notifications,
    enabled: true,
    endpoint: 'http://notifications.test',
    token: 'token-of-notifications',
  }
  const recording: Context['fetch'] = async (input, init) => {
    if (!String(input).startsWith(notifications.endpoint)) return fetch(input, init)
    sent.push(JSON.parse(String(init?.body)))
    return Response.json({ delivery_id: crypto.randomUUID() }, { status: 202 })
  }
  return {
    context: { ...context, fetch: recording, config: { ...context.config, services: { ...services, notifications } } },
    sent,
  }
}
