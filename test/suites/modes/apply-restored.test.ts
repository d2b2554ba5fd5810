import { readdirSync } from 'node:fs'
import { cp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MASK } from '../../../src/base/masking.ts'
import type { Context } from '../../../src/context.ts'
import type { EngineResult, IacClient } from '../../../src/services/iac/contract.ts'
import { startOnce } from '../../helpers/start-once.ts'
import {
  applyJobs,
  applyReports,
  applyRound,
  contextOf,
  DISCARDED,
  expectNotApplied,
  jobsOf,
  leftOfPlan,
  managedState,
  NOT_SAVED,
  requestApply,
  sessionWithPlan,
} from './apply-world.ts'
import { ADDED, done, MAIN, SETTINGS, THIRD, targets, write } from './scripts.ts'
import { dyingWorker, lapse, nextRound, planPath, runWaiting, startStack } from './stack.ts'

const stack = startOnce(startStack)

const KEY = 'a key of at least thirty-two characters'
const NOT_RESTORED =
  'runner failed: The reviewed plan cannot be restored from the object store; run a generate round before applying.'

const keyed = (context: Context, pin_key = KEY): Context => ({
  ...context,
  config: { ...context.config, worker: { ...context.config.worker, pin_key } },
})
const keyOf = async (uuid: string) => {
  const [row] = await stack.database.sql<{ archive_key: string | null }[]>`
    SELECT archive_key FROM saved_plans JOIN sessions s ON s.id = session_id WHERE ended_at IS NULL AND s.uuid = ${uuid}`
  return row?.archive_key ?? null
}
const loseDisk = (uuid: string) => rm(dirname(planPath(stack, uuid)), { recursive: true })

describe('a saved plan with a copy in the object store', () => {
  it('is not needed while the disk has it, and goes with the apply', async () => {
    const context = keyed(contextOf(stack))
    const { uuid } = await sessionWithPlan(stack, context)
    const key = (await keyOf(uuid)) ?? ''
    const before = jobsOf(stack, uuid)
    const stored = new TextDecoder('latin1').decode(await context.storage.get(key))
    expect(stored.startsWith('PLN1')).toBe(true)
    expect(stored).not.toContain('main.tf')
    const session = await applyRound(stack, context, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(jobsOf(stack, uuid)).toEqual([...before, 'apply'])
    await expect(context.storage.get(key)).rejects.toMatchObject({ status: 404 })
  })

  it('is restored when the disk is gone: module, lock file and plan, and nothing that holds a credential', async () => {
    const context = keyed(contextOf(stack))
    const files = {
      'live/main.tf': `${MAIN}module "shared" {\n  source = "../shared"\n}\n`,
      'shared/main.tf': 'resource "terraform_data" "inner" {}\n',
    }
    const plan = {
      task_complete: [write('second.tf', SETTINGS + ADDED), done('Added.')],
      generate_engine_targets: targets(),
    }
    const { uuid, repo_uri } = await sessionWithPlan(stack, keyed(contextOf(stack, {}, plan)), files, 'live')
    await loseDisk(uuid)
    const seen: string[] = []
    const { iac } = context
    const run: typeof iac.run = (kind, body, options) => {
      const root = 'workspace_path' in body ? body.workspace_path : ''
      seen.push(kind, ...readdirSync(root), ...readdirSync(join(root, '.terraform')), ...readdirSync(dirname(root)))
      return iac.run(kind, body, options)
    }
    const session = await applyRound(stack, { ...context, iac: { ...iac, run } }, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(seen).toEqual(expect.arrayContaining(['init', 'session.plan', 'backend_override.tf', 'modules']))
    for (const name of ['.git', 'terraform.tfstate', 'providers']) expect(seen).not.toContain(name)
    expect((await managedState(context, repo_uri, 'live')).sort()).toEqual([
      'terraform_data.greeting',
      'terraform_data.inner',
      'terraform_data.second',
    ])
    expect(await applyReports(stack, uuid)).toMatchObject([{ status: 'Success', summary: { created: 3 } }])
    expect(applyJobs(stack, uuid).map(({ workspace_path }) => workspace_path)).toEqual([
      join(planPath(stack, uuid), 'live'),
    ])
    expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
  })

  it('is restored over an older pin of another disk', async () => {
    const context = keyed(contextOf(stack))
    const { uuid, repo_uri } = await sessionWithPlan(stack, context)
    const older = join(stack.config.paths.upload_folder, `older-${uuid}`)
    await cp(planPath(stack, uuid), older, { recursive: true })
    await nextRound(stack, keyed(contextOf(stack, {}, THIRD)), uuid, 'And a third one')
    await rm(planPath(stack, uuid), { recursive: true })
    await rename(older, planPath(stack, uuid))
    await applyRound(stack, context, uuid)
    expect((await managedState(context, repo_uri)).sort()).toEqual(['terraform_data.second', 'terraform_data.third'])
  })

  it.each<[string, (uuid: string, context: Context) => Promise<unknown>, string]>([
    [
      'when it is damaged',
      async (uuid, context) => {
        const key = (await keyOf(uuid)) ?? ''
        const bytes = await context.storage.get(key)
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
        await context.storage.put(key, bytes, { content_type: 'application/octet-stream' })
      },
      NOT_RESTORED,
    ],
    [
      'when it is the copy of another session',
      async (uuid, context) => {
        const other = await sessionWithPlan(stack, context)
        const bytes = await context.storage.get((await keyOf(other.uuid)) ?? '')
        await context.storage.put((await keyOf(uuid)) ?? '', bytes, { content_type: 'application/octet-stream' })
      },
      NOT_RESTORED,
    ],
    ['when it is gone too', async (uuid, { storage }) => storage.delete((await keyOf(uuid)) ?? ''), NOT_SAVED],
  ])('is not applied %s', async (_, change, text) => {
    const context = keyed(contextOf(stack))
    const { uuid } = await sessionWithPlan(stack, context)
    await loseDisk(uuid)
    await change(uuid, context)
    await expectNotApplied(stack, await applyRound(stack, context, uuid), text)
  })

  it.each([
    ['with another key', 'another key of at least thirty-two ch.', NOT_RESTORED],
    ['without a key', '', NOT_SAVED],
  ])('is not applied %s', async (_, key, text) => {
    const { context, uuid } = await sessionWithPlan(stack, keyed(contextOf(stack)))
    await loseDisk(uuid)
    await expectNotApplied(stack, await applyRound(stack, keyed(context, key), uuid), text)
  })

  it.each<[string, (workspace_path: string) => Promise<EngineResult | null>, string]>([
    [
      'cannot run',
      async () => ({ exit_code: 1, stdout: '', stderr: 'Error: no registry' }),
      'runner failed: Error: no registry',
    ],
    [
      'changes the plan',
      async (path) => {
        await writeFile(join(path, 'session.plan'), 'another plan')
        return null
      },
      'runner failed: The pinned plan is not the reviewed one, so it is not applied; run a generate round ' +
        'before applying.',
    ],
  ])('is not applied when init %s', async (_, init, text) => {
    const { context, uuid } = await sessionWithPlan(stack, keyed(contextOf(stack)))
    await loseDisk(uuid)
    const { iac } = context
    const run: IacClient['run'] = async (kind, body, options) =>
      (kind === 'init' && 'workspace_path' in body ? await init(body.workspace_path) : null) ??
      (await iac.run(kind, body, options))
    await expectNotApplied(stack, await applyRound(stack, { ...context, iac: { ...iac, run } }, uuid), text)
    expect(readdirSync(dirname(planPath(stack, uuid)))).toEqual([])
  })
})

it('a worker without the directory takes an apply up: what is sensitive is masked all the same', async () => {
  const secret = 'very-secret-word-1234'
  const code = `variable "password" {
  type      = string
  sensitive = true
  default   = "${secret}"
}
resource "terraform_data" "second" {
  lifecycle {
    postcondition {
      condition     = self.id == "never"
      error_message = "$\{nonsensitive(var.password)} is wrong."
    }
  }
}
`
  const context = keyed(contextOf(stack, {}, { task_complete: [write('second.tf', code), done('Added.')] }))
  const { uuid } = await sessionWithPlan(stack, context)
  await requestApply(context, uuid)
  const { signal, die } = dyingWorker()
  const wait: IacClient['wait'] = async (job_id, options) => {
    await context.iac.wait(job_id, options)
    return die()
  }
  await runWaiting(stack, { ...context, iac: { ...context.iac, wait } }, uuid, signal)
  await loseDisk(uuid)
  await lapse(stack, uuid)
  const session = await runWaiting(stack, context, uuid)
  const [report] = await applyReports(stack, uuid)
  expect(report?.resource_changes[0]?.error_message).toContain(`${MASK} is wrong.`)
  for (const text of [report, session.history]) expect(JSON.stringify(text)).not.toContain(secret)
  expect(applyJobs(stack, uuid)).toHaveLength(1)
})
