import { expect, it } from 'vitest'
import { ApiError } from '../../../console/client/api/client.ts'
import { findFaults, type Question, readFailure, toMessage } from '../../../console/screens/help/question-message.ts'
import { NotificationRequest } from '../../../routes/v1/notifications/send.post.ts'

const QUESTION: Question = { subject: ' Why? ', body: 'Because.\n', severity: 'info', session_id: null }

it('makes a message that the API takes', () => {
  const origin = 'https://platform.example.com'
  const plain = toMessage(QUESTION, { origin, from: null })
  expect(NotificationRequest.parse(plain)).toMatchObject({ subject: 'Why?', body: 'Because.\n', severity: 'info' })
  expect(plain).not.toHaveProperty('links')
  const about = toMessage({ ...QUESTION, session_id: 'a/b' }, { origin, from: 'ada@example.org' })
  expect(NotificationRequest.parse(about)).toMatchObject({
    links: [{ label: 'Session', url: 'https://platform.example.com/console/sessions/a%2Fb' }],
    context: { session_id: 'a/b', from: 'ada@example.org' },
  })
})

it('names what is missing', () => {
  expect(Object.keys(findFaults({ ...QUESTION, subject: ' ', body: '' }))).toEqual(['subject', 'body'])
  expect(findFaults(QUESTION)).toEqual({})
})

it('tells a service that is switched off from other faults', () => {
  expect(readFailure(new ApiError(503, 'Notifications are disabled.')).kind).toBe('disabled')
  expect(readFailure(new ApiError(502, 'Notification was not delivered.')).kind).toBe('other')
  const refused = new ApiError(422, '', [{ loc: ['body', 'subject'], msg: 'too long' }])
  expect(readFailure(refused)).toEqual({ faults: { subject: 'too long' }, kind: 'fields' })
})
