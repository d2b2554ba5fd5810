import { z } from '@hono/zod-openapi'
import { SCOPE_REFUSED } from '../../src/access/authorize.ts'
import type { OperationRole, PanelRole } from '../../src/access/users.ts'
import { DATABASE_AWAY, REPOSITORY_EMPTY } from '../../src/base/errors.ts'

const Detail = z
  .object({ detail: z.string() })
  .openapi('Error', { description: 'The envelope of every error but 422.' })
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
  .openapi('ValidationError', {
    description: 'All faults of path, query and body together.',
    example: { detail: [{ type: 'missing', loc: ['body', 'q'], msg: 'Field required', input: { session_id: null } }] },
  })

const CHALLENGE = {
  'WWW-Authenticate': { schema: { type: 'string' as const }, description: 'Always begins with `Bearer`.' },
}

/** The successful answer of a route: its status and the response as OpenAPI describes it. */
export interface SuccessAnswer {
  status: number
  description: string
  content?: Record<string, { schema: z.ZodType; example?: unknown }>
}
export const json = <T extends z.ZodType>(schema: T, description: string, status = 200) => ({
  status,
  description,
  content: { 'application/json': { schema } },
})

/** An error of a route with its own description and example texts. */
export interface ErrorAnswer {
  status: number | 'default'
  description: string
  examples: string[]
  /** Default: the envelope of one text. */
  schema?: z.ZodType
}
export const errorAnswer = (
  status: ErrorAnswer['status'],
  description: string,
  ...examples: string[]
): ErrorAnswer => ({ status, description, examples })

/** The general descriptions, by status. */
const GENERAL = new Map(
  [
    errorAnswer(400, 'The body is not UTF-8.', 'There was an error parsing the body'),
    errorAnswer(401, 'No valid bearer token.', 'Not authenticated'),
    errorAnswer(403, 'The role is too low, or the caller does not own the session.', 'Not the session owner'),
    errorAnswer(404, 'Unknown session.', 'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 not found.'),
    errorAnswer(
      413,
      'The body is larger than the route takes (most take 64 KiB), or holds more than 20000 keys and values.',
      'Request body is larger than 65536 bytes (64 KiB).',
    ),
    { ...errorAnswer(422, 'The request did not validate.'), schema: Problems },
    errorAnswer(
      421,
      'Sign-in is off, and the request names a host that the operator has not allowed.',
      'The platform does not serve this host name while sign-in is off. Add the name to http.allowed_hosts, or set ' +
        'oidc.issuer_url.',
    ),
    errorAnswer(500, 'Unexpected error; the text is always `Internal Server Error`.', 'Internal Server Error'),
    errorAnswer(503, 'The database is away; `Retry-After` says when to come back.', DATABASE_AWAY),
  ].map((answer) => [answer.status, answer]),
)

/** The errors of every route with a body. */
export const BODY_ERRORS = [400, 413, 422]
export const UNREACHABLE = errorAnswer(
  400,
  'The repository cannot be reached or access was denied, it has no commit, or a round that is no preview could not ' +
    'push to it; or the body is not UTF-8.',
  'Repository is not reachable or access was denied.',
  REPOSITORY_EMPTY,
  'There was an error parsing the body',
)

/** Describes the 403 of a route that requires an operation role and the owner of the session. */
export const operationForbidden = (role: OperationRole) =>
  errorAnswer(
    403,
    'The operation role is too low, or the caller does not own the session.',
    ...(role === 'developer' ? [] : [`Requires operation role '${role}' or higher`]),
    'Not the session owner',
  )
/** Describes the 403 of a route that reaches a repository, which the authorization sidecar may refuse if enforced. */
export const repositoryForbidden = (role: OperationRole) => {
  const { description, examples } = operationForbidden(role)
  return errorAnswer(
    403,
    `${description} Or the scope is bound to other repositories. Where the authorization service is enforced: it ` +
      'refuses, in its words.',
    ...examples,
    SCOPE_REFUSED,
    'Not authorized on aws/https://github.com/acme/infrastructure.git (live/network)',
  )
}
/** Describes the errors of a route that reaches a repository and calls nothing else that may fail. */
export const repositoryRefusals = (role: OperationRole) => [repositoryForbidden(role), ...sidecarErrors('authz', 15)]
/** Describes the 403 of a route of the admin panel. */
export const panelForbidden = (role: PanelRole) =>
  errorAnswer(403, 'The panel role is too low.', `Requires admin-panel role '${role}' or higher`)

/** The errors of a route that calls the git host, which may refuse or fail. */
export const GIT_HOST_ERRORS = [
  errorAnswer('default', 'Any other refusal of the git host, with its status and in its words.', 'Merge conflict'),
  {
    ...errorAnswer(
      422,
      'The request did not validate: a list. Or the git host refused it: its words.',
      'Validation Failed',
    ),
    schema: z.union([Problems, Detail]),
  },
  errorAnswer(
    400,
    'The repository is not at the configured git host, or the host refused; or the body is not UTF-8.',
    "Malformed repository URL 'git.example.com/acme/infrastructure'",
    'There was an error parsing the body',
  ),
  errorAnswer(
    502,
    'The git host is not reachable, does not take the credentials, or there are none.',
    'The git provider is not reachable.',
    'Git credentials are not configured; pull requests need the account and token of the git provider.',
  ),
]

/** The 503 of a route whose response contains presigned URLs. */
export const STORE_ERROR = errorAnswer(
  503,
  'The credentials of the object store cannot be had.',
  'The object store cannot be reached.',
)

/** Describes the errors 502 and 504 of a route that calls a sidecar. */
export const sidecarErrors = (name: string, seconds: number) => [
  errorAnswer(
    502,
    'The service behind the route cannot be reached, or its answer is off contract.',
    `${name} service unreachable: the connection failed`,
    `${name} service returned an unexpected response: HTTP 500`,
  ),
  errorAnswer(
    504,
    'The service behind the route did not answer in time.',
    `${name} service timed out: no answer within ${seconds} s`,
  ),
]

/**
 * Describes the errors of a route by status; a bare number takes the general description of that status. A later entry
 * replaces an earlier one of the same status; 421 and 500 are always added, and 503 where the route has none.
 */
export const describeErrors = (entries: readonly (number | ErrorAnswer)[]) =>
  Object.fromEntries(
    [503, ...entries, 421, 500].map((entry) => {
      const { status, description, examples, schema } =
        typeof entry === 'number' ? (GENERAL.get(entry) ?? errorAnswer(entry, '')) : entry
      const content = { schema: schema ?? Detail, ...(schema !== Problems && { examples: toExamples(examples) }) }
      const headers = status === 401 && { headers: CHALLENGE }
      return [status, { description, content: { 'application/json': content }, ...headers }]
    }),
  )

const toExamples = (examples: string[]) =>
  Object.fromEntries(
    examples.map((detail) => [detail.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'), { value: { detail } }]),
  )

/** The security requirement of every route but the public one. */
export const signedIn = [{ bearer: [] }]
