import { describe, expect, it } from 'vitest'
import type { ScopeInventory } from '../../src/plan/imports/inventory.ts'
import { storePreview } from '../../src/reports/artifacts.ts'
import { answerOf } from '../helpers/core.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { problemsOf, provideCoreWithRemote, REPOSITORY } from './remote-core.ts'

const FIRST = { q: 'The log buckets', repo_uri: REPOSITORY, scope_id: 'acme-test', engine_providers: 'aws' }
const PREVIEW_FIRST =
  'Value error, resource_ids are chosen from an import preview of the session; preview the import first.'
const { core } = provideCoreWithRemote()

const post = (mode: string, json: unknown) => core.call('POST', `/api/v1/iac/${mode}`, { json })
const roundsOf = async (uuid: string) => [
  ...(await core.database.sql<{ mode: string; preview: boolean; resource_ids: string[] | null }[]>`
    SELECT mode, preview, resource_ids FROM rounds
    WHERE session_id = (SELECT id FROM sessions WHERE uuid = ${uuid}) ORDER BY number`),
]
const detail = async (uuid: string) => (await core.call('GET', `/api/v1/sessions?id=${uuid}`)).json()
const problems = (mode: string, json: unknown) => problemsOf(post(mode, json))

/** Acts as the worker: runs an import preview that lists these as unmanaged. */
async function previewed(uuid: string, ...ids: string[]): Promise<void> {
  const { round, finish } = await runRound(core.context, uuid)
  const document: ScopeInventory = {
    version: 1,
    provider: 'aws',
    scope_id: 'acme-test',
    request: 'q',
    counts: { managed: 1, unmanaged: ids.length, left_out: 0 },
    managed: [{ kind: null, resource_id: 'id-managed' }],
    unmanaged: ids.map((resource_id) => ({ kind: null, resource_id })),
    left_out: [],
  }
  const storage = { ...core.context.storage, put: async () => 7 }
  await storePreview({ ...core.context, storage }, round, document)
  await finish('completed')
}
const sessionWith = async (...ids: string[]) => {
  const uuid = await openSession(core.context, core.me, { mode: 'import', preview: true })
  await previewed(uuid, ...ids)
  return uuid
}

describe.each(['drift', 'import'])('preview of %s', (mode) => {
  it.each([
    ['absent', undefined, false],
    ['null', null, false],
    ['false', false, false],
    ['true', true, true],
    ['"on"', 'on', true],
  ])('is stored with the first round: %s', async (_, preview, stored) => {
    const answer = await post(mode, { ...FIRST, preview })
    expect(answer.status).toBe(202)
    const { session_id } = await answer.json()
    expect(await roundsOf(session_id)).toEqual([{ mode, preview: stored, resource_ids: null }])
    expect((await detail(session_id)).rounds).toMatchObject([{ preview: stored, previews: [] }])
  })

  it('continues a session', async () => {
    const uuid = await openSession(core.context, core.me)
    await (await runRound(core.context, uuid)).finish('completed')
    expect((await post(mode, { session_id: uuid, q: 'look', preview: true })).status).toBe(202)
    expect((await roundsOf(uuid))[1]).toEqual({ mode, preview: true, resource_ids: null })
  })

  it.each([
    ['another word', 'perhaps', 'Input should be a valid boolean, unable to interpret input'],
    ['a list', [true], 'Input should be a valid boolean'],
  ])('refuses %s', async (_, preview, text) => {
    expect(await problems(mode, { ...FIRST, preview })).toEqual([`body.preview: ${text}`])
  })
})

it('is no part of generate, which goes on to ignore the key', async () => {
  const answer = await post('generate', { ...FIRST, preview: true })
  expect(await roundsOf((await answer.json()).session_id)).toEqual([
    { mode: 'generate', preview: false, resource_ids: null },
  ])
})

describe('resource_ids of an import', () => {
  it('are stored when the latest preview lists them, whatever came after it', async () => {
    const uuid = await sessionWith('id-a', 'id-b', 'id-c')
    expect((await detail(uuid)).rounds).toMatchObject([
      { preview: true, previews: [{ counts: { managed: 1, unmanaged: 3, left_out: 0 }, file_size_bytes: 7 }] },
    ])
    expect(await answerOf(post('import', { session_id: uuid, q: 'these', resource_ids: ['id-c', 'id-a'] }))).toEqual([
      202,
      { session_id: uuid },
    ])
    expect((await roundsOf(uuid))[1]).toEqual({ mode: 'import', preview: false, resource_ids: ['id-c', 'id-a'] })
    await (await runRound(core.context, uuid)).finish('completed')
    expect((await post('import', { session_id: uuid, q: 'more', resource_ids: ['id-b'] })).status).toBe(202)
  })

  it('that the preview does not list are refused by name, and no round is opened', async () => {
    const uuid = await sessionWith('id-a', 'id-b')
    const resource_ids = ['id-managed', 'id-a', "o'); DROP TABLE rounds; --"]
    expect(await problems('import', { session_id: uuid, q: 'these', resource_ids })).toEqual([
      "body.resource_ids.0: Value error, the latest import preview does not list 'id-managed' as a resource to import.",
      "body.resource_ids.2: Value error, the latest import preview does not list 'o'); DROP TABLE rounds; --' as a " +
        'resource to import.',
    ])
    expect(await roundsOf(uuid)).toHaveLength(1)
    expect(await detail(uuid)).toMatchObject({ in_flight: false, current_status: 'completed' })
  })

  it('are not repeated when they may hold a password', async () => {
    const uuid = await sessionWith('id-a')
    const resource_ids = ['https://user:planted-password@h/x', `id-${'x'.repeat(4_000)}`]
    const answer = await post('import', { session_id: uuid, q: 'these', resource_ids })
    const text = await answer.text()
    expect(text).not.toContain('planted-password')
    expect(JSON.parse(text).detail).toMatchObject([
      { msg: 'Value error, the latest import preview does not list this one as a resource to import.', input: null },
      { msg: expect.stringMatching(/^Value error, the latest import preview does not list 'id-x{297}…' as/) },
    ])
  })

  it('are compared with the latest preview of this session alone', async () => {
    const uuid = await sessionWith('id-old')
    await sessionWith('id-of-another-session')
    expect((await post('import', { session_id: uuid, q: 'again', preview: true })).status).toBe(202)
    await previewed(uuid, 'id-new')
    for (const id of ['id-old', 'id-of-another-session'])
      expect(await problems('import', { session_id: uuid, q: 'x', resource_ids: [id] })).toEqual([
        expect.stringMatching(`^body\\.resource_ids\\.0: .*does not list '${id}'`),
      ])
    expect((await post('import', { session_id: uuid, q: 'x', resource_ids: ['id-new'] })).status).toBe(202)
  })

  it('need a preview that has ended', async () => {
    const uuid = await openSession(core.context, core.me)
    await (await runRound(core.context, uuid)).finish('completed')
    const choice = { session_id: uuid, q: 'x', resource_ids: ['id-a'] }
    expect(await problems('import', choice)).toEqual([`body.resource_ids: ${PREVIEW_FIRST}`])
    await post('import', { session_id: uuid, q: 'look', preview: true })
    expect(await problems('import', choice)).toEqual([`body.resource_ids: ${PREVIEW_FIRST}`])
    await previewed(uuid, 'id-a')
    expect((await post('import', choice)).status).toBe(202)
  })

  it.each([
    ['on a first call', { resource_ids: ['id-a'] }, [`body: ${PREVIEW_FIRST}`]],
    [
      'with a preview',
      { resource_ids: ['id-a'], preview: true },
      ['body: Value error, resource_ids cannot be combined with preview: a preview lists the whole scope.'],
    ],
    [
      'without any',
      { resource_ids: [] },
      ['body.resource_ids: List should have at least 1 item after validation, not 0'],
    ],
    [
      'with too many',
      { resource_ids: Array.from({ length: 1_001 }, (_, index) => `id-${index}`) },
      ['body.resource_ids: List should have at most 1000 items after validation, not 1001'],
    ],
    [
      'that are too long or no text',
      { resource_ids: ['x'.repeat(4_097), '', 7] },
      [
        'body.resource_ids.0: String should have at most 4096 characters',
        'body.resource_ids.1: String should have at least 1 character',
        'body.resource_ids.2: Input should be a valid string',
      ],
    ],
    ['as a text', { resource_ids: 'id-a' }, ['body.resource_ids: Input should be a valid list']],
  ])('%s are refused', async (_, changes, texts) => {
    expect(await problems('import', { ...FIRST, ...changes })).toEqual(texts)
  })

  it('null means absent; drift ignores them', async () => {
    expect((await post('import', { ...FIRST, resource_ids: null })).status).toBe(202)
    const answer = await post('drift', { ...FIRST, resource_ids: ['id-a'] })
    expect(await roundsOf((await answer.json()).session_id)).toEqual([
      { mode: 'drift', preview: false, resource_ids: null },
    ])
  })

  it('of an unknown session or of another user are not looked at', async () => {
    const other = await createUser(core.database.sql, 'chooser')
    const uuid = await openSession(core.context, other.id)
    const refused = await post('import', { session_id: uuid, q: 'x', resource_ids: ['id-a'] })
    expect(refused.status).toBe(403)
    const missing = await post('import', { session_id: crypto.randomUUID(), q: 'x', resource_ids: ['id-a'] })
    expect(missing.status).toBe(404)
  })
})
