import { expect, it } from 'vitest'
import { endOfPreview } from '../../../pipeline/run-round.ts'

const kept = { history: [{ user: 'a', assistant: 'b' }], commit: 'c', usage: { tokens: 1 }, result: undefined }

it.each([
  ['completed', 'DRIFT', 'completed', 'DRIFT'],
  ['uncompleted', 'Cancelled by ada@example.org.', 'uncompleted', 'Cancelled by ada@example.org.'],
  ['failed', 'runner failed: git clone failed', 'uncompleted', 'The preview could not be made: git clone failed'],
] as const)('%s with "%s" is saved without traces', (status, message, saved, words) => {
  expect(endOfPreview({ ...kept, status, message })).toEqual({
    status: saved,
    message: words,
    history: null,
    commit: null,
    usage: { tokens: 1 },
  })
})
