import { expect, it } from 'vitest'
import { endText } from '../../../console/client/end-notification.ts'
import { sampleRound, sampleSession } from '../samples.ts'

it('says how the newest round ended, and what it was about', () => {
  const round = sampleRound(2, 'completed', { query: 'Second' })
  const session = sampleSession([sampleRound(1, 'completed', { query: 'First' }), round], { first_query: 'First' })
  expect(endText({ ...session, current_status: 'completed' })).toEqual({ title: 'Round completed', body: 'Second' })
  expect(endText({ ...session, current_status: 'uncompleted' }).title).toBe('Round ended early')
  expect(endText({ ...session, current_status: 'completed', is_blocked: true }).title).toBe(
    'Round completed, session locked',
  )
})

it('cuts a long request without breaking a character', () => {
  const query = `${'x'.repeat(158)}🪣${'y'.repeat(50)}`
  const { body } = endText(sampleSession([sampleRound(1, 'failed', { query })]))
  expect(body.isWellFormed()).toBe(true)
  expect(body).toHaveLength(160)
})
