import { z } from '@hono/zod-openapi'
import { sessionNotFound } from '../../../../src/base/errors.ts'
import { maskSecrets } from '../../../../src/base/mask-secrets.ts'
import { OWNER_UNLOCKS, setLock } from '../../../../src/rounds/transitions.ts'
import { actorOf, requirePanel } from '../../../access.ts'
import { endpoint } from '../../../endpoint.ts'
import { errorAnswer, json } from '../../../openapi/answers.ts'
import { boolean, optional, TRUE_ALONE, text, uuid } from '../../../validation/fields.ts'

export const LockRequest = z
  .object({
    locked: boolean().describe('The state to be in afterwards.'),
    reason: optional(text({ max: 1_000 }))
      .transform((value) => value && maskSecrets(value.trim()))
      .openapi({
        type: ['string', 'null'],
        maxLength: 1_000,
        description: 'Why; required to unlock. It stands in the audit and in the detail of the session.',
        example: 'Checked with the data team: the bucket is empty.',
      }),
  })
  .superRefine(({ locked, reason }, ctx) => {
    if (!locked && !reason) ctx.addIssue({ code: 'custom', path: ['reason'], message: 'the reason must not be blank.' })
  })
  .openapi('LockRequest', {
    anyOf: [
      { title: 'Lock', properties: { locked: TRUE_ALONE } },
      { title: 'Unlock', required: ['reason'], properties: { reason: { type: 'string', pattern: '\\S' } } },
    ],
    example: { locked: true },
  })
export const LockState = z
  .object({ uuid: z.string().openapi({ format: 'uuid' }), is_blocked: z.boolean() })
  .openapi('LockState', { example: { uuid: '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11', is_blocked: true } })

const OWN_LOCK = errorAnswer(
  403,
  'The panel role is too low, or the caller owns the session and may not unlock it.',
  `Requires admin-panel role 'editor' or higher`,
  OWNER_UNLOCKS,
)

export const patchToggleLock = endpoint({
  method: 'patch',
  path: '/v1/admin/sessions/{session_id}/toggle_lock',
  operationId: 'patchToggleLock',
  tags: ['Administration'],
  summary: 'Lock or unlock a session',
  description:
    'Sets the lock to the given state, whatever it was; the same call twice changes nothing more. ' +
    'While a session is locked, apply and merge answer 409. ' +
    'For panel role editor or higher, whoever owns the session. To unlock takes a `reason`, and, where ' +
    '`admin.unlock_by_another` holds, somebody other than the owner of the session.',
  request: { params: z.object({ session_id: uuid().describe('The session.') }), body: LockRequest },
  answer: json(LockState, 'The state of the lock.'),
  errors: [OWN_LOCK, 404],
  gate: requirePanel('editor'),
  handle: async (c, { params, body }) => {
    const { platform } = c.var
    const { unlock_by_another } = platform.config.admin
    const request = { actor: actorOf(c), reason: body.reason || undefined, unlock_by_another }
    const state = await setLock(platform, params.session_id, body.locked, request)
    if (!state) throw sessionNotFound(params.session_id)
    c.var.log.info('session lock set', { session_id: state.uuid, is_blocked: state.is_blocked })
    return state
  },
})
