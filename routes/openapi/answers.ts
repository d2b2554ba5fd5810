import { z } from '@hono/zod-openapi'

const Detail = z.object({ detail: z.string() }).openapi('Error', { description: 'The envelope of every error but 422.' })
const Problems = z
  .object({
    detail: z.array(
      z.object({
        type: z.string(),
        loc: z.array(z.union([z.string(), z.number().int()])),
        msg: z.string(),
        input: z.any(),
        ctx: z.record(z.string(), z.any()).optional(),
      }),
    ),
  })
  .openapi('ValidationError', { description: 'All faults of path, query and body together.' })

const DESCRIPTIONS: Record<number, string> = {
  400: 'The repository cannot be reached or access was denied; or the body is not UTF-8.',
  401: 'No valid bearer token.',
  403: 'The role is too low, or the caller does not own the session.',
  404: 'Unknown session.',
  413: 'The body is larger than 10 MiB.',
  422: 'The request did not validate.',
  500: 'Unexpected error; the text is always `Internal Server Error`.',
  502: 'A service behind the platform failed.',
  504: 'A service behind the platform did not answer in time.',
}
const EXAMPLES: Record<number, string> = {
  400: 'Repository is not reachable or access was denied.',
  401: 'Not authenticated',
  403: 'Not the session owner',
  404: 'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 not found.',
  413: 'Request body is larger than 10485760 bytes (10 MiB).',
  500: 'Internal Server Error',
  502: 'Repository is not reachable or access was denied.',
  504: 'PR creation timeout',
}
const CHALLENGE = {
  'WWW-Authenticate': { schema: { type: 'string' as const }, description: 'Always begins with `Bearer`.' },
}

/** A JSON answer of one shape. */
export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { 'application/json': { schema } },
})

/** A required JSON body. */
export const jsonBody = <T extends z.ZodType>(schema: T) => ({ required: true, content: { 'application/json': { schema } } })

/** The error answers of a route, by status. 500 is always among them. */
export const errors = (...statuses: number[]) =>
  Object.fromEntries(
    [...statuses, 500].map((status) => [
      status,
      status === 422
        ? json(Problems, DESCRIPTIONS[422] ?? '')
        : {
            description: DESCRIPTIONS[status] ?? '',
            content: { 'application/json': { schema: Detail, example: { detail: EXAMPLES[status] ?? '' } } },
            ...(status === 401 ? { headers: CHALLENGE } : {}),
          },
    ]),
  )

/** The security requirement of every route but the public one. */
export const signedIn = [{ bearer: [] }]
