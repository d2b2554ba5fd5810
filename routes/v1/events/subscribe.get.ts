import { z } from '@hono/zod-openapi'
import { createStatusStream } from '../../../src/events/status-stream.ts'
import { readerOf, requireStreamedSession, requireUser } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import { EVENT_STREAM_HEADERS, serverSentEvent, TOO_MANY_STREAMS } from '../../sse-answers.ts'
import { uuid } from '../../validation/fields.ts'

export const subscribe = endpoint({
  method: 'get',
  path: '/v1/events/subscribe/{session_id}',
  operationId: 'subscribe',
  tags: ['Rounds'],
  summary: 'Progress of a session',
  description:
    'Server-sent events: the comment `: keepalive` at once, then one `data:` line for the current status, for each ' +
    'change, and every five seconds. Ends after a terminal status, or after the configured number of polls; ' +
    'connect again then. Ends too when token or access have ended, which is checked every five seconds. ' +
    'For the owner and for every holder of a panel role.',
  request: { params: z.object({ session_id: uuid().describe('The session.') }) },
  answer: {
    status: 200,
    description: 'The stream. `status_msg` is the status in upper case.',
    content: {
      'text/event-stream': {
        schema: serverSentEvent({
          type: 'object',
          required: ['status_msg', 'detail'],
          properties: { status_msg: { type: 'string' }, detail: { type: 'object' } },
        }),
        example: ': keepalive\n\ndata: {"status_msg":"GENERATING","detail":{"message":"Writing code"}}\n\n',
      },
    },
  },
  errors: [403, 404, TOO_MANY_STREAMS],
  gate: requireUser,
  handle: async (c, { params }) => {
    const session = await requireStreamedSession(c, params.session_id)
    const { streams, config } = c.var.platform
    const maxPolls = config.orchestration.max_session_events_iteration
    const reader = readerOf(c, session)
    const body = createStatusStream(streams, session.uuid, { maxPolls, log: c.var.log, reader })
    return c.body(body, 200, EVENT_STREAM_HEADERS)
  },
})
