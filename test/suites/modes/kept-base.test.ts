import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'
import { basePlanKey } from '../../../src/saved-plans/base-plan.ts'
import { createUser, openSession } from '../../helpers/sessions.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said, type scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { done, goodLlm, MAIN, operations, SETTINGS, SPLIT, splits, targets, write } from './scripts.ts'
import { appliedRepository, engineBeside, firstRound, nextRound, runWaiting, type Stack, startStack } from './stack.ts'

const stack = startOnce(startStack)

const OWN = "Drift check completed; the remaining differences are this session's own changes."
const KEY = 'a key of at least thirty-two characters'

/** A context that keeps plans, and lists the folders in which the code before the session was planned. */
function keeping({ context: contextOf }: Stack, llm: ReturnType<typeof scriptedLlm>, pin_key = KEY) {
  const context = contextOf(llm)
  const made: string[] = []
  const run: typeof context.iac.run = (kind, body, options) => {
    if (kind === 'plan' && 'lock' in body && body.lock === false) made.push(body.workspace_path)
    return context.iac.run(kind, body, options)
  }
  const config = { ...context.config, worker: { ...context.config.worker, pin_key } }
  return { made, context: { ...context, config, iac: { ...context.iac, run } } }
}

const saying = (word: string, more = '') => ({
  generate_engine_targets: targets(),
  task_complete: [write('main.tf', SETTINGS + MAIN.replace('hello', word) + more), done(`Says ${word}.`)],
})

describe('the plan of the code before the session', () => {
  it('is made once for the rounds on one base and state, and lies encrypted in the object store', async () => {
    const repo_uri = await appliedRepository(stack)
    const first = keeping(stack, goodLlm(saying('good morning')))
    const { uuid } = await firstRound(stack, first.context, { repo_uri, query: 'Say good morning' })
    expect(first.made).toHaveLength(1)
    const stored = new TextDecoder('latin1').decode(await first.context.storage.get(basePlanKey(uuid)))
    expect(stored.startsWith('PLN1')).toBe(true)
    expect(stored).not.toContain('terraform_data')
    const llm = goodLlm(saying('good evening'))
    const second = keeping(stack, llm)
    const session = await nextRound(stack, second.context, uuid, 'Say good evening')
    expect(second.made).toEqual([])
    expect(session.messages).toContain(OWN)
    expect(llm.of(SPLIT)).toEqual([])
  })

  it('is made anew in each round without a key to keep it with', async () => {
    const repo_uri = await appliedRepository(stack)
    const first = keeping(stack, goodLlm(saying('good morning')), '')
    const { uuid } = await firstRound(stack, first.context, { repo_uri, query: 'Say good morning' })
    await expect(first.context.storage.get(basePlanKey(uuid))).rejects.toMatchObject({ status: 404 })
    const second = keeping(stack, goodLlm(saying('good evening')), '')
    await nextRound(stack, second.context, uuid, 'Say good evening')
    expect([first.made.length, second.made.length]).toEqual([1, 1])
  })

  it('is made anew over the state of an apply of others', async () => {
    const repo_uri = await appliedRepository(stack)
    const first = keeping(stack, goodLlm(saying('good morning')))
    const { uuid } = await firstRound(stack, first.context, { repo_uri, query: 'Say good morning' })
    await (await engineBeside(stack, repo_uri)).editState((state) => state.replaceAll('"hello"', '"hi by others"'))
    const second = keeping(stack, goodLlm(saying('good evening')))
    await nextRound(stack, second.context, uuid, 'Say good evening')
    expect(second.made).toHaveLength(1)
    const [round] = await stack.database.sql<{ notes: string[] }[]>`
      SELECT result->'notes' AS notes FROM rounds JOIN sessions ON sessions.id = session_id
      WHERE uuid = ${uuid} AND number = 2`
    expect(round?.notes.join()).toContain('terraform_data.greeting was changed by others and by this session')
  })

  it('is made anew when others change what it read and leave the state as it is', async () => {
    const elsewhere = `elsewhere/${crypto.randomUUID()}.tfstate`
    const say = (value: string) => stack.states.put(elsewhere, stateSaying(value), { content_type: 'application/json' })
    await say('goodbye')
    const reading = readingState(stack, elsewhere)
    const repo_uri = await appliedRepository(stack, { 'main.tf': MAIN, 'other.tf': reading })
    const first = keeping(stack, goodLlm(saying('good morning')))
    const { uuid } = await firstRound(stack, first.context, { repo_uri, query: 'Say good morning' })
    await say('goodbye by others')
    const llm = goodLlm({
      ...saying('good evening'),
      ...splits(operations(['Set the input of terraform_data.farewell']), operations([])),
    })
    const second = keeping(stack, llm)
    await nextRound(stack, second.context, uuid, 'Say good evening')
    expect(second.made).toHaveLength(1)
    expect(said(llm.of(SPLIT)[0])).toContain('terraform_data.farewell')
    expect(said(llm.of(SPLIT)[0])).not.toContain('terraform_data.greeting')
  })
})

describe('the plan of the code before the session, beside the round', () => {
  it('neither waits for the lock of the state nor takes it', async () => {
    const repo_uri = await appliedRepository(stack)
    const { context, made } = keeping(stack, goodLlm(saying('good morning')))
    const lock = `${await deriveProjectId(repo_uri, 'acme-test', null)}/terraform.tfstate.tflock`
    const codes: (number | null)[] = []
    const run: typeof context.iac.run = async (kind, body, options) => {
      if (kind !== 'plan' || !('lock' in body)) return context.iac.run(kind, body, options)
      await stack.states.put(lock, LOCK, { content_type: 'application/json' })
      const result = await context.iac.run(kind, body, options)
      codes.push(result.exit_code)
      expect(new TextDecoder().decode(await stack.states.get(lock))).toBe(LOCK)
      await stack.states.delete(lock)
      return result
    }
    const request = { repo_uri, query: 'Say good morning' }
    const session = await firstRound(stack, { ...context, iac: { ...context.iac, run } }, request)
    expect([codes, made.length]).toEqual([[0], 1])
    expect(session.statuses.at(-1)).toBe('completed')
  })

  it('is made again when others apply meanwhile, which it does not hinder', async () => {
    const repo_uri = await appliedRepository(stack)
    const { context, made } = keeping(stack, goodLlm(saying('good morning')))
    const changed = Promise.withResolvers<void>()
    const run: typeof context.iac.run = async (kind, body, options) => {
      if (kind !== 'plan') return context.iac.run(kind, body, options)
      if (!('lock' in body)) await changed.promise
      const result = await context.iac.run(kind, body, options)
      if ('lock' in body && made.length === 1) {
        const others = await engineBeside(stack, repo_uri)
        await others.editState((state) => state.replaceAll('"hello"', '"hi by others"')).finally(changed.resolve)
      }
      return result
    }
    const request = { repo_uri, query: 'Say good morning' }
    const { uuid } = await firstRound(stack, { ...context, iac: { ...context.iac, run } }, request)
    const [round] = await stack.database.sql<{ notes: string[] }[]>`
      SELECT result->'notes' AS notes FROM rounds JOIN sessions ON sessions.id = session_id WHERE uuid = ${uuid}`
    expect(made).toHaveLength(2)
    expect(round?.notes.join()).toContain('terraform_data.greeting was changed by others and by this session')
  })

  it('is not made where nothing exists yet', async () => {
    const { context, made } = keeping(stack, goodLlm())
    const session = await firstRound(stack, context)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(made).toEqual([])
  })
})

it('a session on the default branch knows where it began', async () => {
  const repo_uri = await appliedRepository(stack)
  const first = keeping(stack, goodLlm(saying('good morning')))
  const { config, sql } = first.context
  const user = await createUser(sql, crypto.randomUUID())
  const request = { repo_uri, query: 'Say good morning', iac_path: null, mode: 'generate', provider: 'aws' } as const
  const uuid = await openSession(first.context, user.id, { ...request, is_partial: false })
  await sql`
    UPDATE workspaces SET branch = 'main' FROM sessions WHERE sessions.id = session_id AND sessions.uuid = ${uuid}`
  await runWaiting(stack, first.context, uuid)
  // The disk and the kept plan are gone, so that the next round has nothing but the repository.
  await rm(join(config.paths.upload_folder, uuid), { recursive: true })
  await sql`UPDATE sessions SET base_plan_key = NULL WHERE uuid = ${uuid}`
  const llm = goodLlm(saying('good evening'))
  const second = keeping(stack, llm)
  const session = await nextRound(stack, second.context, uuid, 'Say good evening')
  expect(session.branch).toBe('main')
  expect(session.messages).toContain(OWN)
  expect(second.made).toHaveLength(1)
})

it('an apply of some targets is the base of these alone: what it left out stays the work of the session', async () => {
  const block = (name: string) => `resource "terraform_data" "${name}" {\n  input = local.word\n}\n`
  const code = (word: string) => `locals {\n  word = "${word}"\n}\n`
  const blocks = block('greeting') + block('farewell')
  const repo_uri = await appliedRepository(stack, { 'main.tf': code('hello'), 'blocks.tf': blocks })
  const first = goodLlm({
    generate_engine_targets: targets('terraform_data.greeting'),
    task_complete: [write('main.tf', code('good morning')), done('Says good morning.')],
  })
  const { uuid } = await firstRound(stack, stack.context(first), { repo_uri, query: 'Greet with good morning' })
  const applying = stack.context(goodLlm(), { mayLogErrors: true })
  const applied = await nextRound(stack, applying, uuid, '', { mode: 'apply' })
  expect(applied.statuses.at(-1)).toBe('completed')
  const llm = goodLlm({
    generate_engine_targets: targets(),
    ...splits(operations(['Set the word of terraform_data.farewell to "hello"'])),
  })
  const session = await nextRound(stack, stack.context(llm), uuid, 'Add a second greeting')
  expect(session.messages).toContain(OWN)
  expect(llm.of(SPLIT)).toEqual([])
  expect(await stack.git(repo_uri, 'show', `${session.branch}:main.tf`)).toBe(code('good morning'))
})

const LOCK = JSON.stringify({
  ID: '11111111-2222-3333-4444-555555555555',
  Operation: 'OperationTypeApply',
  Who: 'others',
})

const stateSaying = (value: string) =>
  JSON.stringify({
    ...{ version: 4, terraform_version: '1.11.4', serial: 1, lineage: '11111111-2222-3333-4444-555555555555' },
    ...{ outputs: { word: { value, type: 'string' } }, resources: [] },
  })

/** Code whose resource takes its input from an output of another state in the store. */
const readingState = ({ config: { storage } }: Stack, key: string) => `
data "terraform_remote_state" "other" {
  backend = "s3"
  config = {
    bucket = "${storage.engine_state_bucket}"
    key = "${key}"
    region = "us-east-1"
    access_key = "${storage.access_key}"
    secret_key = "${storage.secret_key}"
    endpoints = { s3 = "${storage.endpoint_url}" }
    use_path_style = true
    skip_credentials_validation = true
    skip_region_validation = true
    skip_requesting_account_id = true
    skip_metadata_api_check = true
    skip_s3_checksum = true
  }
}
resource "terraform_data" "farewell" {
  input = data.terraform_remote_state.other.outputs.word
}
`
