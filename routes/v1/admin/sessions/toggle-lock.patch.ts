import { z } from '@hono/zod-openapi'
import { sessionNotFound } from '../../../../src/base/errors.ts'
import { setLock } from '../../../../src/rounds/transitions.ts'
import { actorOf, requirePanel } from '../../../access.ts'
import { endpoint } from '../../../endpoint.ts'
import { json } from '../../../openapi/answers.ts'
import { boolean, uuid } from '../../../validation/fields.ts'

export const LockRequest = z
  .object({ locked: boolean().describe('The state to be in afterwards.') })
  .openapi('LockRequest', { example: { locked: true } })
export const LockState = z
  .object({ uuid: z.string().openapi({ format: 'uuid' }), is_blocked: z.boolean() })
  .openapi('LockState', { example: { uuid: '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11', is_blocked: true } })

export const patchToggleLock = endpoint({
  method: 'patch',
  path: '/v1/admin/sessions/{session_id}/toggle_lock',
  operationId: 'patchToggleLock',
  tags: ['Administration'],
  summary: 'Lock or unlock a session',
  description:
    'Sets the lock to the given state, whatever it was; the same call twice changes nothing more. ' +
    'While a session is locked, apply and merge answer 409. ' +
    'For panel role editor or higher, whoever owns the session.',
  request: { params: z.object({ session_id: uuid().describe('The session.') }), body: LockRequest },
  answer: json(LockState, 'The state of the lock.'),
  errors: [404],
  gate: requirePanel('editor'),
  handle: async (c, { params, body }) => {
    const state = await setLock(c.var.platform, params.session_id, body.locked, actorOf(c))
    if (!state) throw sessionNotFound(params.session_id)
    c.var.log.info('session lock set', { session_id: state.uuid, is_blocked: state.is_blocked })
    return state
  },
})
