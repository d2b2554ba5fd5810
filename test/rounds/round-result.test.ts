import { expect, it } from 'vitest'
import { emptyResult, type RoundResult, readRoundResult } from '../../src/rounds/round-result.ts'

const CHANGES: NonNullable<RoundResult['changes']> = {
  entries: [
    { address: 'a.new', action: 'move', previous_address: 'a.old' },
    { address: 'a.b', action: 'import', import_id: null },
    { address: 'a.d', action: 'delete', delete_reason: 'delete_because_no_module' },
    { address: 'a.c', action: 'replace', replace_paths: ['x'], replace_reason: 'replace_by_request', keeps_old: true },
  ],
  total: 4,
  counts: { create: 0, update: 0, delete: 0, replace: 1, move: 1, import: 1, forget: 0 },
}

it('comes back as it was stored', () => {
  const result = { ...emptyResult(), summary: 'Built.', assumptions: ['One zone.'], changes: CHANGES }
  expect(readRoundResult(JSON.parse(JSON.stringify(result)))).toEqual(result)
})

it('of another release is read as far as it can be', () => {
  expect(readRoundResult({ summary: 'Built.', drift: 'x', notes: [1], other: true })).toEqual({
    ...emptyResult(),
    summary: 'Built.',
  })
  expect(readRoundResult({ changes: { ...CHANGES, entries: [{ address: 'a.b', action: 'explode' }] } })).toEqual(
    emptyResult(),
  )
})

it.each([[null], [undefined], ['text'], [7]])('that is %j is none', (stored) => {
  expect(readRoundResult(stored)).toBeNull()
})
