import { expect, it } from 'vitest'
import { toCsv } from '../../../src/access/audit/csv.ts'
import type { AuditRecord } from '../../../src/access/audit/list.ts'

const RECORD: AuditRecord = {
  id: 1,
  at: '2026-01-31T23:59:59.123456Z',
  action: 'session_locked',
  actor: 'ada@example.org',
  user_id: 7,
  subject: 'ada',
  session_id: null,
  address: null,
  detail: {},
}
const HEADER = 'id,at,action,actor,user_id,session_id,address,detail,subject\r\n'
const linesOf = async (...records: Partial<AuditRecord>[]) =>
  new Response(
    toCsv(
      (async function* () {
        for (const record of records) yield [{ ...RECORD, ...record }]
      })(),
    ),
  ).text()

it('has a line of names, also without entries', async () => {
  expect(await linesOf()).toBe(HEADER)
})

it('quotes what needs it and leaves nulls empty', async () => {
  const found = await linesOf({ actor: 'Ada "the first",\nCountess', detail: { url: 'https://h/1' } }, {})
  expect(found).toBe(
    `${HEADER}1,2026-01-31T23:59:59.123456Z,session_locked,"Ada ""the first"",\nCountess",7,,,` +
      `"{""url"":""https://h/1""}",ada\r\n1,2026-01-31T23:59:59.123456Z,session_locked,ada@example.org,7,,,{},ada\r\n`,
  )
})

it.each([
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\tx',
  '\rx',
  '=HYPERLINK("http://h","x")',
])('takes %j from a spreadsheet as a text', async (actor) => {
  const cell = (await linesOf({ actor })).slice(HEADER.length).split('session_locked,')[1] ?? ''
  expect(cell.replace(/^"/, '')).toMatch(/^'/)
})

it('breaks off when a batch cannot be read', async () => {
  const failing = (async function* () {
    yield [RECORD]
    throw new Error('the database is gone')
  })()
  await expect(new Response(toCsv(failing)).text()).rejects.toThrow('the database is gone')
})

it('reads no further batch when the reader goes', async () => {
  let ended = false
  const endless = (async function* () {
    try {
      for (;;) yield [RECORD]
    } finally {
      ended = true
    }
  })()
  const reader = toCsv(endless).getReader()
  await reader.read()
  await reader.read()
  await reader.cancel()
  expect(ended).toBe(true)
})
