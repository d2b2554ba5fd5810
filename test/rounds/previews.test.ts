import { describe, expect, it } from 'vitest'
import { LeaseLost } from '../../src/base/errors.ts'
import { readEvidenceRows } from '../../src/pull-requests/evidence/read-evidence.ts'
import { insertPreview, insertReport } from '../../src/reports/artifacts.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { readSessionRequests } from '../../src/sessions/session-requests.ts'
import { claimedSession, claimOf, lapseLease, nextRound, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

const object = { uri: 'sessions/x/previews/1.json', content_type: 'application/json', file_size_bytes: 12 }
const listing = (...resource_ids: string[]) => ({
  ...object,
  counts: { managed: 0, unmanaged: resource_ids.length, left_out: 0 },
  resource_ids,
})
const end = { status: 'completed', message: 'x', history: null, usage: null } as const
const next = (uuid: string, changes: Parameters<typeof nextRound>[2]) =>
  nextRound(context, uuid, { mode: 'import', ...changes })
const commitsOf = async (uuid: string) => {
  const [row] = await db.sql`SELECT last_commit, reviewed_commit FROM sessions WHERE uuid = ${uuid}`
  return { ...row }
}

describe('a preview that ends', () => {
  it('moves no commit, neither as the first round nor later, whatever its end says', async () => {
    const { uuid, claim: first } = await claimedSession(context, { mode: 'drift', preview: true })
    expect(first).toMatchObject({ preview: true, resource_ids: null })
    await finishRound(context, first, { ...end, commit: 'of-the-preview' })
    expect(await commitsOf(uuid)).toEqual({ last_commit: null, reviewed_commit: '' })
    await finishRound(context, await next(uuid, { mode: 'generate' }), { ...end, commit: 'of-the-work' })
    await finishRound(context, await next(uuid, { preview: true }), { ...end, commit: 'of-the-preview' })
    expect(await commitsOf(uuid)).toEqual({ last_commit: 'of-the-work', reviewed_commit: 'of-the-work' })
  })

  it('is neither a request of the session nor evidence for its pull request', async () => {
    const { uuid, claim: preview } = await claimedSession(context, { query: 'Look', mode: 'drift', preview: true })
    await insertReport(db.sql, preview, { ...object, type: 'drift' })
    await finishRound(context, preview, { ...end, commit: null })
    const round = await next(uuid, { mode: 'generate', query: 'Build' })
    expect(round).toMatchObject({ preview: false, number: 2 })
    expect(await readSessionRequests(db.sql, round)).toEqual([{ number: 2, text: 'Build', fate: 'present' }])
    const rows = await readEvidenceRows(db.sql, uuid)
    expect(rows?.rounds.map(({ number }) => number)).toEqual([2])
    expect(rows?.reports).toEqual([])
  })
})

describe('what a preview lists', () => {
  it('is an artifact of its round, and gone when the round starts again', async () => {
    const { uuid, claim: interrupted } = await claimedSession(context, { mode: 'import', preview: true })
    await insertPreview(db.sql, interrupted, listing('id-a'))
    const detail = await loadAggregate(context, uuid, { includeHistory: true })
    expect(detail?.rounds).toMatchObject([
      {
        preview: true,
        previews: [
          {
            url: `https://files.example/${object.uri}?signature=1`,
            content_type: 'application/json',
            file_size_bytes: 12,
            counts: { managed: 0, unmanaged: 1, left_out: 0 },
          },
        ],
      },
    ])
    expect(JSON.stringify(detail)).not.toContain('id-a')
    await lapseLease(db.sql, interrupted.id)
    const again = await claimOf(db.sql, uuid)
    await expect(insertPreview(db.sql, interrupted, listing('id-b'))).rejects.toThrow(LeaseLost)
    expect((await loadAggregate(context, uuid, { includeHistory: true }))?.rounds[0]?.previews).toEqual([])
    await insertPreview(db.sql, again, listing('id-c'))
    await finishRound(context, again, { ...end, commit: null })
    await expect(next(uuid, { resource_ids: ['id-a'] })).rejects.toMatchObject({ code: 'NotPreviewed', positions: [0] })
    expect(await next(uuid, { resource_ids: ['id-c'] })).toMatchObject({ preview: false, resource_ids: ['id-c'] })
  })

  it('may be long, and a choice of many is looked up at once', async () => {
    const ids = Array.from({ length: 50_000 }, (_, index) => `arn:aws:sqs:eu-central-1:1:queue-${index}`)
    const { uuid, claim: round } = await claimedSession(context, { mode: 'import', preview: true })
    await insertPreview(db.sql, round, listing(...ids))
    await finishRound(context, round, { ...end, commit: null })
    const chosen = [...ids.slice(-999), 'id-unknown']
    await expect(next(uuid, { resource_ids: chosen })).rejects.toMatchObject({ positions: [999] })
    expect((await next(uuid, { resource_ids: chosen.slice(0, -1) })).resource_ids).toHaveLength(999)
  })
})
