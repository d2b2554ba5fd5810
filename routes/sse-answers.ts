import { z } from '@hono/zod-openapi'
import { notFound } from '../src/base/errors.ts'
import { createLogStream } from '../src/events/log-stream.ts'
import type { EventChannel } from '../src/events/round-event.ts'
import { readerOf, requireStreamedSession, requireUser } from './access.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { errorAnswer } from './openapi/answers.ts'
import { optionalInteger, uuid } from './validation/fields.ts'

export type { ActivityEvent, OutputEvent } from '../src/events/round-event.ts'

export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache',
  Connection: 'keep-alive',
  'X-Accel-Buffering': 'no',
}

export const TOO_MANY_STREAMS = errorAnswer(
  429,
  'The caller has as many open streams in this process as `http.max_streams_per_user` allows; see `Retry-After`.',
  '100 streams of this user are open. Close some, then try again.',
)

const END = { title: 'End', type: 'object', required: ['status'], properties: { status: { type: 'string' } } }

/** Describes one event of a stream, whose data is JSON of this schema. */
export const serverSentEvent = (data: object) =>
  z
    .object({
      id: z.string().optional(),
      event: z.string().optional(),
      data: z.string().openapi({ contentMediaType: 'application/json', contentSchema: data } as object),
    })
    .describe('One event.')

const eventId = (description: string) => optionalInteger({ min: 0, max: Number.MAX_SAFE_INTEGER, description })

const request = {
  params: z.object({ session_id: uuid().describe('The session.') }),
  query: z.object({
    round: optionalInteger({ min: 1, description: 'Only the events of the round with this number, up to its end.' }),
    after: eventId('The same as `Last-Event-ID`, for clients that cannot send that; the greater one counts.'),
  }),
  headers: z.object({
    'last-event-id': eventId('The `id` of the last event that the client has seen; the stream goes on after it.'),
  }),
}

/**
 * Makes the endpoint of a stream of a session's events, whose data is JSON of the component `name`. It throws 404 for
 * an unknown session or round; 403 without access.
 */
export const eventLogEndpoint = (
  channel: EventChannel,
  name: 'Activity' | 'Output',
  { example, ...texts }: { operationId: string; summary: string; description: string; example: string },
): Endpoint =>
  endpoint({
    method: 'get',
    path: `/v1/events/${channel}/{session_id}`,
    tags: ['Rounds'],
    ...texts,
    request,
    answer: {
      status: 200,
      description: `The stream. The JSON in each \`data:\` line is \`${name}\`, in that of the last frame, \`end\`, the status.`,
      content: {
        'text/event-stream': {
          schema: serverSentEvent({ anyOf: [{ $ref: `#/components/schemas/${name}` }, END] }),
          example,
        },
      },
    },
    errors: [
      403,
      errorAnswer(
        404,
        'Unknown session, or it has no round of this number.',
        'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 not found.',
        'Round 7 of session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 not found.',
      ),
      TOO_MANY_STREAMS,
    ],
    gate: requireUser,
    handle: async (c, { params, query, headers }) => {
      const session = await requireStreamedSession(c, params.session_id)
      const { streams, config } = c.var.platform
      const { round = null, after } = query
      const start = await streams.hub.start(session, channel, round)
      if (!start) throw notFound(`Round ${round} of session ${session.uuid} not found.`)
      const resumed = [after, headers['last-event-id']].filter((id) => id !== undefined)
      const cursor = resumed.length > 0 ? Math.max(...resumed) : start.cursor
      const body = createLogStream(
        streams,
        { session, channel, cursor, head: start.head, round },
        {
          maxPolls: config.orchestration.max_session_events_iteration,
          log: c.var.log,
          reader: readerOf(c, session),
        },
      )
      return c.body(body, 200, EVENT_STREAM_HEADERS)
    },
  })
