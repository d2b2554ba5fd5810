import { beforeAll, describe, expect, it } from 'vitest'
import { startObjectStore } from '../../dev/object-store.ts'
import { LeaseLost } from '../../src/base/errors.ts'
import { createObjectStore } from '../../src/data/storage/create.ts'
import type { ObjectStore } from '../../src/data/storage/object-store.ts'
import {
  safeName,
  storeCodeChange,
  storeComplianceCheck,
  storeDrift,
  storePlanDocument,
  storePlanText,
  storeReport,
} from '../../src/reports/artifacts.ts'
import type { DriftReport } from '../../src/reports/schemas.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { storageConfig } from '../data/storage/config.ts'
import { provideDatabase } from '../helpers/postgres.ts'
import { startOnce } from '../helpers/start-once.ts'
import { claimOf, createSession, verbContext } from '../sessions/fixtures.ts'

const database = provideDatabase()
const server = startOnce(() => startObjectStore({ access_key: 'access-key', secret_key: 'secret-key' }))
let context: Omit<ReturnType<typeof verbContext>, 'storage'> & { storage: ObjectStore }
let round: ClaimedRound

beforeAll(async () => {
  const verbs = verbContext(database)
  const config = storageConfig({ endpoint_url: server.url, public_endpoint_url: server.url })
  context = { ...verbs, storage: createObjectStore(config, { fetch, log: verbs.log }) }
  await context.storage.ensureBuckets()
  round = await claimOf(database.sql, await createSession(verbs))
})

async function download(key: string) {
  const response = await fetch(await context.storage.presign(key))
  return {
    body: await response.text(),
    content_type: response.headers.get('content-type'),
    type: response.headers.get('x-amz-meta-type'),
    new_file: response.headers.get('x-amz-meta-new_file'),
  }
}

const rows = async (table: string): Promise<Record<string, unknown>[]> => {
  const { sql } = database
  return sql`SELECT t.*, a.uri, a.content_type, a.file_size_bytes FROM ${sql(table)} t JOIN artifacts a ON a.id = t.artifact_id ORDER BY t.id`
}
const prefix = () => `sessions/${round.session.uuid}/rounds/${round.id}`
const matching = (rest: string) => expect.stringMatching(new RegExp(`^${prefix()}/${rest}$`))

const drift: DriftReport = {
  summary: 'größer',
  status: 'Succeeded',
  remediated_resources: [],
  unreconciled_drift: [],
  whitelisted_exceptions: [],
}

describe('artifacts of a round', () => {
  it('plan texts and drift share a table and are told apart by metadata', async () => {
    await storePlanText(context, round, { text: 'Plan: 1 to add', targets: ['terraform_data.a'] })
    await storeDrift(context, round, { operations: [{ address: 'a', action: 'delete resource' }], targets: [] })
    const [plan, drifted] = await rows('engine_plans')
    expect(plan).toMatchObject({
      uri: matching('plans/[0-9a-f]{8}\\.txt'),
      content_type: 'text/plain',
      file_size_bytes: 14,
      targets: ['terraform_data.a'],
    })
    expect(drifted).toMatchObject({ uri: matching('plans/[0-9a-f]{8}\\.txt'), targets: [] })
    expect(await download(String(plan?.uri))).toEqual({
      body: 'Plan: 1 to add',
      content_type: 'text/plain',
      type: 'plan',
      new_file: null,
    })
    const stored = await download(String(drifted?.uri))
    expect(stored).toMatchObject({ content_type: 'text/plain', type: 'drift' })
    expect(JSON.parse(stored.body)).toEqual([{ address: 'a', action: 'delete resource' }])
  })

  it('a plan has one document under the name of its text, also when it is written again', async () => {
    const { sql } = database
    const stored = await storePlanText(context, round, { text: 'Plan: 2 to add', targets: [] })
    await storePlanDocument(context, round, stored, '{"first":"ä"}')
    const documents = () => sql<{ uri: string; content_type: string; file_size_bytes: number; count: number }[]>`
      SELECT d.*, (SELECT count(*) FROM artifacts WHERE uri = d.uri) FROM engine_plans p
      JOIN artifacts d ON d.id = p.document_artifact_id WHERE p.id = ${stored.id}`
    const uri = stored.uri.replace('.txt', '.json')
    expect(await documents()).toMatchObject([
      { uri: matching('plans/[0-9a-f]{8}\\.json'), content_type: 'application/json', file_size_bytes: 14 },
    ])
    await storePlanDocument(context, round, stored, '{}')
    expect(await documents()).toMatchObject([{ uri, file_size_bytes: 2, count: 1 }])
    expect(await download(uri)).toEqual({ body: '{}', content_type: 'application/json', type: 'plan', new_file: null })
    const lost = { ...round, fence: round.fence - 1 }
    await expect(storePlanDocument(context, lost, stored, '{"a":1}')).rejects.toBeInstanceOf(LeaseLost)
  })

  it('reports are JSON documents, counted in bytes', async () => {
    await storeReport(context, round, { type: 'drift', document: drift })
    await storeReport(context, round, { type: 'drift', document: drift })
    const [report, second] = await rows('reports')
    expect(second?.uri).not.toBe(report?.uri)
    expect(report).toMatchObject({
      uri: matching('reports/drift-[0-9a-f]{8}\\.json'),
      type: 'drift',
      content_type: 'application/json',
    })
    const stored = await download(String(report?.uri))
    expect(JSON.parse(stored.body)).toEqual(drift)
    expect(stored).toMatchObject({ content_type: 'application/json', type: null, new_file: null })
    expect(report?.file_size_bytes).toBe(new TextEncoder().encode(stored.body).length)
  })

  it('compliance checks carry their verdict', async () => {
    await storeComplianceCheck(context, round, { passed: false, violations: [], summary: 's', checked_rules: [] })
    expect(await rows('compliance_checks')).toMatchObject([
      { uri: matching('compliance/check-[0-9a-f]{8}\\.json'), passed: false },
    ])
  })

  it('code changes keep their path in the row and a safe name in the key', async () => {
    await storeCodeChange(context, round, { path: 'modules/ä b/main.tf', new_file: true, content: 'a = 1' })
    await storeCodeChange(context, round, { path: 'x'.repeat(400), new_file: false, content: '-a\n+b' })
    const [whole, diff] = await rows('code_changes')
    expect(whole).toMatchObject({
      uri: matching('changes/[0-9a-f]{8}-modules_b_main\\.tf'),
      file_name: 'modules/ä b/main.tf',
    })
    expect(await download(String(whole?.uri))).toMatchObject({ body: 'a = 1', new_file: 'true' })
    expect(diff).toMatchObject({ uri: matching('changes/[0-9a-f]{8}-x{100}'), file_name: 'x'.repeat(254) })
    expect(await download(String(diff?.uri))).toMatchObject({ body: '-a\n+b', new_file: 'false' })
  })

  it.each([
    ['main.tf', 'main.tf'],
    ['a/../b.tf', 'a_.._b.tf'],
    ['päth\n', 'p_th_'],
    ['', 'file'],
    ['///', '_'],
  ])('the safe name of %j is %j', (path, name) => {
    expect(safeName(path)).toBe(name)
  })
})

describe('when one half fails', () => {
  const recording = (storage: Partial<ObjectStore>) => {
    const deleted: string[] = []
    const remove = async (key: string) => {
      deleted.push(key)
      await context.storage.delete(key)
    }
    return { deleted, context: { ...context, storage: { ...context.storage, delete: remove, ...storage } } }
  }

  it('no row is written when the upload fails', async () => {
    const before = (await rows('reports')).length
    const failing = recording({ put: () => Promise.reject(new Error('down')) })
    await expect(storeReport(failing.context, round, { type: 'drift', document: drift })).rejects.toThrow('down')
    expect(await rows('reports')).toHaveLength(before)
    expect(failing.deleted).toEqual([])
  })

  it('the object is deleted when the row is refused, because another worker holds the round', async () => {
    const stale = recording({})
    await expect(
      storePlanText(stale.context, { ...round, fence: round.fence - 1 }, { text: 't', targets: [] }),
    ).rejects.toBeInstanceOf(LeaseLost)
    expect(stale.deleted).toEqual([matching('plans/[0-9a-f]{8}\\.txt')])
    await expect(context.storage.get(stale.deleted[0] ?? '')).rejects.toMatchObject({ status: 404 })
  })

  it('the error of the row wins when the object cannot be deleted either', async () => {
    const stuck = recording({ delete: () => Promise.reject(new Error('no delete')) })
    await expect(
      storePlanText(stuck.context, { ...round, fence: round.fence - 1 }, { text: 't', targets: [] }),
    ).rejects.toBeInstanceOf(LeaseLost)
    expect(context.lines.at(-1)).toMatchObject({
      level: 'warn',
      message: 'an uploaded object without a row could not be deleted',
    })
  })
})
