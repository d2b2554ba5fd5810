import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { writeOverride } from '../../../pipeline/workspace/backend-override.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'
import { acceptRound } from '../../../src/rounds/accept.ts'
import type { RoundResult } from '../../../src/rounds/round-result.ts'
import type { IacClient } from '../../../src/services/iac/contract.ts'
import { engineOnPath } from '../../helpers/engine.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { applyRound, applyScripts, contextOf, managedState } from './apply-world.ts'
import { goodRound, MAIN, PASSWORD, STATE as SOURCE, THIRD } from './scripts.ts'
import {
  dyingWorker,
  firstRound,
  lapse,
  nextRound,
  type RoundContext,
  runWaiting,
  type Stack,
  startStack,
} from './stack.ts'

const run = promisify(execFile)

/** A store of states with the engine's HTTP protocol, by path, with their locks. */
const states = new Map<string, string>()
const locks = new Map<string, string>()
/** A path that is never answered. */
const SILENT = '/silent'
let hungUp = () => {}
const server = createServer(async (request, response) => {
  const path = request.url?.replace(/\?.*/, '') ?? ''
  if (path === SILENT) return void response.on('close', () => hungUp())
  const body = await text(request)
  const answer = (status: number, content = '') => response.writeHead(status).end(content)
  if (request.method === 'GET') return answer(states.has(path) ? 200 : 404, states.get(path))
  if (request.method === 'UNLOCK') return answer(locks.delete(path) ? 200 : 409)
  if (request.method === 'LOCK' && locks.has(path)) return answer(423, locks.get(path))
  const target = request.method === 'LOCK' ? locks : states
  target.set(path, body)
  answer(200)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
const HOST = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
afterAll(() => server.close())
beforeEach(() => {
  states.clear()
  locks.clear()
})

const stack = startOnce(() =>
  startStack({
    sidecar: {
      IAC_EGRESS_ALLOW: HOST,
      AWS_ACCESS_KEY_ID: 'access-key-of-the-store',
      AWS_SECRET_ACCESS_KEY: 'secret-key-of-the-store',
    },
  }),
)

const backend = (type: string, settings: Record<string, string>) =>
  `terraform {\n  backend "${type}" {\n${Object.entries(settings)
    .map(([name, value]) => `    ${name} = ${value}\n`)
    .join('')}  }\n}\n`
const OUTPUT = `output "password" {\n  value = "${PASSWORD}"\n  sensitive = true\n}\n`
const httpBackend = (path: string, host = HOST) =>
  backend('http', {
    ...{ address: `"http://${host}${path}"`, lock_address: `"http://${host}${path}"` },
    ...{ unlock_address: `"http://${host}${path}"`, retry_max: '0' },
  })

/** Starts a session on a root with this backend. */
async function start(code: string, changes: Partial<RoundContext> = {}, files: Record<string, string> = {}) {
  const llm = scriptedLlm(applyScripts())
  const context = stack.context(llm, changes)
  const repo_uri = await stack.repository({ 'main.tf': MAIN, 'outputs.tf': OUTPUT, 'backend.tf': code, ...files })
  const session = await firstRound(stack, context, { repo_uri })
  return { llm, context, ...session }
}

async function resultOf({ database }: Stack, uuid: string): Promise<RoundResult> {
  const [row] = await database.sql<{ result: RoundResult }[]>`
    SELECT r.result FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid}
    ORDER BY r.number DESC LIMIT 1`
  if (!row) throw new Error('the session has no round')
  return row.result
}

const adoptions = (uuid: string) =>
  stack.database.sql<{ detail: object; actor: string }[]>`
    SELECT detail, actor FROM audit_records WHERE action = 'state_adopted' AND session_uuid = ${uuid}`

const again = (context: RoundContext, uuid: string, state?: 'adopt' | 'keep' | 'new') =>
  nextRound(stack, context, uuid, 'Add a second greeting', { state })

const CHOICE = 'the one that the platform manages is empty: a plan would create everything anew'

describe('a root whose own backend has a state', () => {
  it('stops before any model and plan, with the choice', async () => {
    states.set('/found', SOURCE)
    const { llm, uuid, statuses, messages, repo_uri, context } = await start(httpBackend('/found'))
    expect(statuses).toEqual(['started', 'filtering', 'uncompleted'])
    const message = messages.at(-1)
    expect(message).toContain(CHOICE)
    expect(message).toContain('in a backend of its own, "http" (backend.tf)')
    expect(message).toContain('That state has serial 7 and 1 resource.')
    expect(llm.requests).toEqual([])
    expect((await resultOf(stack, uuid)).state_question).toEqual({
      ...{ mode: 'generate', is_partial: false, backend: 'http', serial: 7, resources: 1 },
      choices: ['adopt', 'keep'],
    })
    expect(await managedState(context, repo_uri)).toEqual([])
    expect(states.get('/found')).toBe(SOURCE)
  })

  it('adopts it under lock, proves it by a plan, and works on the copy from then on', async () => {
    states.set('/adopted', SOURCE)
    const { uuid, context, repo_uri } = await start(httpBackend('/adopted'))
    const round = await again(context, uuid, 'adopt')
    expect(round.statuses.at(-1)).toBe('completed')
    const note = expect.stringContaining('A plan of the unchanged code is empty.')
    expect(round.messages).toContainEqual(note)
    expect(await resultOf(stack, uuid)).toMatchObject({
      notes: expect.arrayContaining([note]),
      changes: { total: 1, counts: { create: 1 } },
    })
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.greeting'])
    expect(await adoptions(uuid)).toEqual([
      {
        actor: expect.stringContaining('@example.org'),
        detail: expect.objectContaining({ backend: 'http', serial: 7, resources: 1 }),
      },
    ])
    await applyRound(stack, context, uuid)
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.greeting', 'terraform_data.second'])
    expect([states.get('/adopted'), locks.size]).toEqual([SOURCE, 0])
    const next = await firstRound(stack, stack.context(scriptedLlm(goodRound(THIRD))), { repo_uri })
    expect(next.messages.join()).not.toContain(CHOICE)
  })

  it('is not adopted while its source is locked, and nothing is left', async () => {
    states.set('/locked', SOURCE)
    const { uuid, context, repo_uri } = await start(httpBackend('/locked'))
    locks.set('/locked', JSON.stringify({ ID: 'another-run', Operation: 'OperationTypeApply', Who: 'ada' }))
    const round = await again(context, uuid, 'adopt')
    expect(round.statuses.at(-1)).toBe('uncompleted')
    expect(round.messages.at(-1)).toContain('It was not adopted: Error: Error acquiring the state lock')
    expect(await managedState(context, repo_uri)).toEqual([])
    expect(await adoptions(uuid)).toEqual([])
  })

  it('leaves nothing of a copy that holds another state than what was read', async () => {
    states.set('/moved', SOURCE)
    const { uuid, context, repo_uri } = await start(httpBackend('/moved'))
    const moving: IacClient['run'] = (kind, body, options) => {
      if ('migrate_state' in body) states.set('/moved', SOURCE.replaceAll('hello', 'hullo'))
      return context.iac.run(kind, body, options)
    }
    const round = await again({ ...context, iac: { ...context.iac, run: moving } }, uuid, 'adopt')
    expect(round.messages.at(-1)).toContain(
      'the copy holds another state than the source. Nothing of it is left in the managed state.',
    )
    expect(await managedState(context, repo_uri)).toEqual([])
    // The next attempt is a new one.
    expect((await again(context, uuid, 'adopt')).statuses.at(-1)).toBe('completed')
  })

  it('proves a copy that an interrupted round has left', async () => {
    states.set('/interrupted', SOURCE)
    const { uuid, context, repo_uri } = await start(httpBackend('/interrupted'))
    const { signal, die } = dyingWorker()
    const dying: IacClient['run'] = async (kind, body, options) => {
      const result = await context.iac.run(kind, body, options)
      return 'migrate_state' in body ? die() : result
    }
    const request = { mode: 'generate', query: 'Add a second greeting', is_partial: false, state: 'adopt' } as const
    await acceptRound(context, { session_uuid: uuid, ...request })
    await runWaiting(stack, { ...context, iac: { ...context.iac, run: dying } }, uuid, signal).catch(() => {})
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.greeting'])
    expect(await adoptions(uuid)).toEqual([])
    await lapse(stack, uuid)
    const round = await runWaiting(stack, context, uuid)
    expect(round.statuses.at(-1)).toBe('completed')
    expect(await adoptions(uuid)).toHaveLength(1)
  })

  it('is kept: plan and apply work on it, for the whole session', async () => {
    states.set('/kept', SOURCE)
    const { uuid, context, repo_uri } = await start(httpBackend('/kept'))
    const round = await again(context, uuid, 'keep')
    expect(round.statuses.at(-1)).toBe('completed')
    expect((await resultOf(stack, uuid)).changes).toMatchObject({ total: 1, counts: { create: 1 } })
    await applyRound(stack, context, uuid)
    const kept = JSON.parse(states.get('/kept') ?? '')
    expect(kept.resources.map(({ name }: { name: string }) => name)).toEqual(['greeting', 'second'])
    expect([kept.lineage, locks.size]).toEqual([JSON.parse(SOURCE).lineage, 0])
    const later = await nextRound(stack, stack.context(scriptedLlm(goodRound(THIRD))), uuid, 'Add a third greeting')
    expect(later.statuses.at(-1)).toBe('completed')
    expect(await managedState(context, repo_uri)).toEqual([])
  })

  it('is taken back by the commands of docs/operations.md, and kept from then on', async () => {
    states.set('/back', SOURCE)
    const { uuid, context, repo_uri } = await start(httpBackend('/back'))
    await again(context, uuid, 'adopt')
    await applyRound(stack, context, uuid)
    const folder = await mkdtemp(join(stack.config.paths.upload_folder, '..', 'back-'))
    const cwd = join(folder, 'clone')
    await run('git', ['clone', '--quiet', stack.git_host.pathOf(repo_uri), cwd])
    const project = { scope_id: 'acme-test', workspace: { uri: repo_uri, branch: '', root_path: null } }
    await writeOverride(stack.config, project, cwd, silentLogger)
    const binary = await engineOnPath()
    const engine = (...args: string[]) => run(binary, args, { cwd, env: { PATH: process.env.PATH, HOME: folder } })
    await engine('init', '-reconfigure')
    await engine('state', 'pull')
    await rm(join(cwd, 'backend_override.tf'))
    await engine('init', '-migrate-state', '-force-copy')
    // The default branch lacks the second greeting, which the session has applied from its own.
    expect((await engine('plan', '-no-color')).stdout).toContain('0 to add, 0 to change, 1 to destroy')
    expect(states.get('/back')).toContain('"second"')
    const id = await deriveProjectId(repo_uri, 'acme-test', null)
    await stack.states.delete(`${id}/terraform.tfstate`)
    const kept = await firstRound(stack, stack.context(scriptedLlm(applyScripts())), { repo_uri, state: 'keep' })
    expect(kept.statuses.at(-1)).toBe('completed')
    expect(await managedState(context, repo_uri)).toEqual([])
  })

  it('is adopted or kept without a question where the operator says so', async () => {
    for (const existing_state of ['adopt', 'keep'] as const) {
      states.set(`/${existing_state}`, SOURCE)
      const config = { ...stack.config, storage: { ...stack.config.storage, existing_state } }
      const { statuses, context, repo_uri } = await start(httpBackend(`/${existing_state}`), { config })
      expect(statuses.at(-1)).toBe('completed')
      const expected = existing_state === 'adopt' ? ['terraform_data.greeting'] : []
      expect(await managedState(context, repo_uri)).toEqual(expected)
    }
  })

  it('shows no value of it', async () => {
    states.set('/secret', SOURCE)
    const { uuid, context } = await start(httpBackend('/secret'))
    await again(context, uuid, 'adopt')
    const rows = await stack.database.sql<{ all: string }[]>`
      SELECT concat((SELECT json_agg(e) FROM round_events e JOIN rounds r ON r.id = e.round_id WHERE r.session_id = s.id),
        (SELECT json_agg(t) FROM statuses t WHERE t.session_id = s.id), (SELECT json_agg(r) FROM rounds r WHERE r.session_id = s.id),
        (SELECT json_agg(a) FROM audit_records a WHERE a.session_uuid = s.uuid)) AS all
      FROM sessions s WHERE uuid = ${uuid}`
    expect(rows[0]?.all).not.toContain(PASSWORD)
  })
})

describe('a root whose own backend has no state, or one that cannot be read', () => {
  it('goes on with the managed state when there is none, and says so', async () => {
    const { uuid, statuses } = await start(httpBackend('/empty'))
    expect(statuses.at(-1)).toBe('completed')
    const { notes } = await resultOf(stack, uuid)
    expect(notes).toContain(
      'The repository\'s own backend "http" (backend.tf) has no state yet: the platform manages it.',
    )
  })

  it.each([
    ['does not answer', httpBackend('/none', '127.0.0.1:1'), 'connection refused'],
    ['is the metadata service of the cloud', httpBackend('/latest', '169.254.169.254'), 'a link-local service'],
    ['is only configured in part', backend('s3', {}), 'bucket'],
    ['runs elsewhere', 'terraform {\n  cloud {\n    organization = "acme"\n  }\n}\n', 'neither read, copied nor kept'],
  ])('stops when it %s, and leaves it aside when asked', async (_, code, reason) => {
    const { uuid, context, statuses, messages, llm } = await start(code)
    expect(statuses.at(-1)).toBe('uncompleted')
    expect(messages.at(-1)).toContain('Whether it has a state is not known')
    expect(messages.at(-1)).toContain(reason)
    expect(llm.requests).toEqual([])
    const { state_question } = await resultOf(stack, uuid)
    const choices = code.includes('cloud {') ? ['new'] : ['adopt', 'keep', 'new']
    expect(state_question).toMatchObject({ serial: null, resources: null, choices })
    expect((await again(context, uuid, 'new')).statuses.at(-1)).toBe('completed')
    expect((await resultOf(stack, uuid)).notes.join()).toContain('was left aside, as asked')
  })
})

it('keeps no state behind a cloud block', async () => {
  const llm = scriptedLlm(applyScripts())
  const files = { 'main.tf': MAIN, 'backend.tf': 'terraform {\n  cloud {\n    organization = "acme"\n  }\n}\n' }
  const { statuses, messages } = await firstRound(stack, stack.context(llm), { files, state: 'keep' })
  expect([statuses.at(-1), messages.at(-1)]).toEqual(['uncompleted', expect.stringContaining('nor kept')])
  expect(llm.requests).toEqual([])
})

describe('a backend that takes a connection and never answers', () => {
  it.each([
    ['ends the question', undefined, 'Whether it has a state is not known: the engine'],
    ['is not kept', 'keep' as const, 'cannot be opened: the engine'],
  ])('%s after its time, with its engine stopped and no model asked', async (_, state, reason) => {
    const config = { ...stack.config, storage: { ...stack.config.storage, existing_state_timeout: 1 } }
    const llm = scriptedLlm(applyScripts())
    const context = stack.context(llm, { config })
    const repo_uri = await stack.repository({ 'main.tf': MAIN, 'backend.tf': httpBackend(SILENT) })
    const closed = new Promise<void>((resolve) => {
      hungUp = resolve
    })
    const { statuses, messages } = await firstRound(stack, context, { repo_uri, state })
    expect(statuses.at(-1)).toBe('uncompleted')
    expect(messages.at(-1)).toContain(`${reason} did not end within 1s and was stopped.`)
    expect(messages.at(-1)).toContain("The engine had the credentials of the session's cloud (aws).")
    expect(llm.requests).toEqual([])
    await closed
  })
})

describe('a state in the repository itself', () => {
  it('is adopted and never kept, and stays as it is on the branch', async () => {
    const { uuid, context, repo_uri, messages, branch } = await start('', {}, { 'terraform.tfstate': SOURCE })
    expect(messages.at(-1)).toContain('in a backend of its own, (terraform.tfstate)')
    const kept = await again(context, uuid, 'keep')
    expect(kept.messages.at(-1)).toContain('a working copy that is thrown away')
    const round = await again(context, uuid, 'adopt')
    expect(round.statuses.at(-1)).toBe('completed')
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.greeting'])
    expect(await stack.git(repo_uri, 'show', `${branch}:terraform.tfstate`)).toBe(SOURCE)
    expect((await resultOf(stack, uuid)).changes).toMatchObject({ total: 1, counts: { create: 1 } })
  })
})

describe('a state in another bucket', () => {
  it('is adopted', async () => {
    const context = contextOf(stack)
    const { storage } = stack.config
    await context.storage.put('legacy/terraform.tfstate', SOURCE, { content_type: 'application/json' })
    const flags = ['use_path_style', 'skip_credentials_validation', 'skip_region_validation']
    const more = ['skip_requesting_account_id', 'skip_metadata_api_check', 'skip_s3_checksum', 'use_lockfile']
    const code = backend('s3', {
      bucket: `"${storage.bucket}"`,
      key: '"legacy/terraform.tfstate"',
      region: '"us-east-1"',
      endpoints: `{ s3 = "${storage.endpoint_url}" }`,
      ...Object.fromEntries([...flags, ...more].map((flag) => [flag, 'true'])),
    })
    const { uuid, repo_uri, messages } = await start(code)
    expect(messages.at(-1)).toContain('That state has serial 7 and 1 resource.')
    const round = await again(context, uuid, 'adopt')
    expect(round.statuses.at(-1)).toBe('completed')
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.greeting'])
    const source = await context.storage.get('legacy/terraform.tfstate')
    expect(new TextDecoder().decode(source)).toBe(SOURCE)
  })
})
