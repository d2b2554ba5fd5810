import { describe, expect, it } from 'vitest'
import { MASK } from '../../src/base/masking.ts'
import type { RoundRow } from '../../src/pull-requests/evidence/evidence.ts'
import { maskFirstRequest } from '../../src/pull-requests/shown-rounds.ts'
import { writeOwnText } from '../../src/pull-requests/write-text.ts'
import { emptyResult, type RoundResult } from '../../src/rounds/round-result.ts'
import { changeListOf } from './evidence/fixtures.ts'

const round = (number: number, query: string, changes: Partial<RoundRow> = {}): RoundRow => ({
  number,
  mode: 'generate',
  query,
  status: 'completed',
  ...changes,
})
const built = (summary: string, changes?: RoundResult['changes']): Pick<RoundRow, 'result'> => ({
  result: { ...emptyResult(), summary, ...(changes && { changes }) },
})
const textOf = (rounds: RoundRow[], firstRequest = rounds[0]?.query ?? '') =>
  writeOwnText({ firstRequest, rounds, history: [] })

describe('the summary', () => {
  it('says that no model wrote it, what was asked, what is planned and what was built', () => {
    const changes = changeListOf([{ address: 'a.new', action: 'move', previous_address: 'a.old' }])
    const { summary } = textOf([
      round(1, 'Add a bucket\nfor logs', built('Added the bucket.')),
      round(2, 'And a lake', { status: 'uncompleted' }),
      round(3, 'Rename it', built('Renamed it.', changes)),
      round(4, 'Engine apply.', { mode: 'apply' }),
    ])
    expect(summary).toBe(
      [
        'No model wrote this summary; code put it together from what the session stored.',
        'Requested:\n- Add a bucket for logs\n- Rename it',
        'The reviewed plan: 0 to create, 0 to update, 0 to delete, 0 to recreate, 1 to move.',
        'Built in round 1, in the words of the model that wrote the code:\nAdded the bucket.',
        'Built in round 3, in the words of the model that wrote the code:\nRenamed it.',
      ].join('\n\n'),
    )
  })

  it('of a session of an older release takes what the conversation reports', () => {
    const history = [{ user: 'Add a bucket', assistant: 'Added.' }]
    const { summary } = writeOwnText({ firstRequest: 'Add a bucket', rounds: [round(1, 'Add a bucket')], history })
    expect(summary).toContain('Reported:\nAdded.')
    expect(summary).not.toContain('The reviewed plan')
  })

  it('names the first request where no round has completed, and some words where nobody asked anything', () => {
    expect(textOf([round(1, 'Raw', { status: 'failed' })], 'Masked').summary).toContain('Requested:\n- Masked')
    const drift = textOf([round(1, ' ', { mode: 'drift' })])
    expect(drift.summary).toContain('- Bring the code in line with the infrastructure')
    expect(drift.title).toBe('Bring the code in line with the infrastructure')
  })
})

describe('the title', () => {
  it('is the first request with the numbers of later requests and of changes', () => {
    const changes = changeListOf([{ address: 'a.b', action: 'create' }])
    expect(textOf([round(1, 'Add a bucket', built('Added.', changes))]).title).toBe('Add a bucket (1 change)')
    const two = [round(1, 'Add a bucket'), round(2, 'More', built('', { ...changes, total: 7 }))]
    expect(textOf(two).title).toBe('Add a bucket (1 more request, 7 changes)')
  })

  it.each([
    ['words '.repeat(100)],
    ['## **Add** `a bucket`\n\n- [x] <b>now</b> | later\\'],
    ['Fixes #1 for @octocat https://evil.example'],
    ['\u200b'],
    ['😀'.repeat(100)],
  ])('is one line of at most 72 characters without markup: %s', (query) => {
    const { title } = textOf([round(1, query, built('', { ...changeListOf([]), total: 12 }))])
    expect(title.length).toBeLessThanOrEqual(72)
    expect(title).toMatch(/^\S.* \(12 changes\)$/)
    expect(title).not.toMatch(/[`*<>[\]|\\\n]|#\d|@\w|:\/\//)
    expect(title.isWellFormed()).toBe(true)
  })
})

const QUERY = 'Set hunter2-x as password, hunter2-x again'
const turn = (user: string) => ({ user, assistant: 'Done.' })

it.each([
  [
    'in the masked form that was kept',
    [turn(`Set ${MASK} as password, ${MASK} again`)],
    `Set ${MASK} as password, ${MASK} again`,
  ],
  ['masked as a whole', [turn(MASK)], MASK],
  ['masked in a later turn', [turn('Something else'), turn(`Set ${MASK} again`)], `Set ${MASK} again`],
  ['as typed without history', [], QUERY],
  ['as typed when nothing was masked', [turn(QUERY)], QUERY],
  ['as typed when the masked turn is of another request', [turn(`Use ${MASK} as password, ${MASK} again`)], QUERY],
  ['as typed when another request ends differently', [turn(`Set ${MASK} as password`)], QUERY],
  ['as typed when parts would overlap', [turn(`${QUERY}${MASK}again`)], QUERY],
])('shows the request %s', (_, history, shown) => {
  expect(maskFirstRequest(QUERY, history)).toBe(shown)
})
