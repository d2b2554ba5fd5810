import { expect, it } from 'vitest'
import { endText } from '../../../console/client/end-notification.ts'

it('says how the newest round ended, and what it was about', () => {
  const session = { first_query: 'First', is_blocked: false, rounds: [{ query: 'First' }, { query: 'Second' }] }
  expect(endText({ ...session, current_status: 'completed' })).toEqual({ title: 'Round completed', body: 'Second' })
  expect(endText({ ...session, current_status: 'uncompleted' }).title).toBe('Round ended early')
  expect(endText({ ...session, current_status: 'completed', is_blocked: true }).title).toBe(
    'Round completed, session locked',
  )
})

it('cuts a long request without breaking a character', () => {
  const query = `${'x'.repeat(158)}🪣${'y'.repeat(50)}`
  const { body } = endText({ current_status: 'failed', first_query: null, is_blocked: false, rounds: [{ query }] })
  expect(body.isWellFormed()).toBe(true)
  expect(body).toHaveLength(160)
})
