import type { z } from '@hono/zod-openapi'
import type { PlanDocument } from '../../../routes/openapi/document.ts'
import type { Api, Query } from './client.ts'

interface CallOptions<Body> {
  query?: Query
  body?: Body
  /** The values for the `{names}` in the path. */
  params?: Record<string, string | number>
  signal?: AbortSignal
}

/** A route of the API. `answer` names the component that describes its answer; null: it has none. */
interface Call<Answer, Body> {
  (api: Api, options?: CallOptions<Body>): Promise<Answer>
  readonly method: string
  /** The path below `/v1`, as in the API's description. */
  readonly path: string
  readonly answer: keyof Components | null
}

type AnswerOf<Name> = Name extends keyof Components ? Components[Name] : null

function call<Name extends keyof Components | null, Body = undefined>(
  method: string,
  path: string,
  answer: Name,
): Call<AnswerOf<Name>, Body> {
  const run = (api: Api, { params = {}, ...options }: CallOptions<Body> = {}) =>
    api.json<AnswerOf<Name>>({
      method,
      path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? ''))),
      ...options,
    })
  return Object.assign(run, { method, path, answer })
}

interface SessionRef {
  session_id: string
}
interface Roles {
  operation_role?: string
  panel_role?: string | null
}

/** Every route that the console calls, besides the three event streams. */
export const calls = {
  getAuthConfig: call('GET', '/auth/config', 'AuthConfig'),
  authorize: call<'Decision', { cloud: string; project_name: string; environment: string }>(
    'POST',
    '/auth/authorize',
    'Decision',
  ),
  getMe: call('GET', '/users/me', 'User'),

  generate: call<'SessionId', GenerateBody>('POST', '/iac/generate', 'SessionId'),
  drift: call<'SessionId', RoundBody>('POST', '/iac/drift', 'SessionId'),
  importResources: call<'SessionId', RoundBody>('POST', '/iac/import', 'SessionId'),
  apply: call<'SessionId', SessionRef>('POST', '/iac/apply', 'SessionId'),
  cancel: call<'SessionId', SessionRef>('POST', '/iac/cancel', 'SessionId'),
  verifySeal: call<'SealVerification', SessionRef>('POST', '/iac/seal/verify', 'SealVerification'),

  parseRepository: call<'Roots', { repo_uri: string }>('POST', '/repository/parse', 'Roots'),
  openPullRequest: call<'PullRequest', SessionRef>('PUT', '/repository/pr', 'PullRequest'),
  mergePullRequest: call<null, SessionRef>('PUT', '/repository/pr/merge', null),
  resolveMapping: call<'MappingAnswer', { identifier: string; engine_provider?: string }>(
    'POST',
    '/mapping/resolve',
    'MappingAnswer',
  ),

  getSession: call('GET', '/sessions', 'SessionAggregate'),
  listSessions: call('GET', '/sessions/list', 'SessionPage'),
  notify: call<'Delivery', NotificationBody>('POST', '/notifications', 'Delivery'),

  getAnySession: call('GET', '/admin/sessions', 'SessionAggregate'),
  listAllSessions: call('GET', '/admin/sessions/list', 'SessionPage'),
  countSessions: call('GET', '/admin/sessions/summary', 'SessionTotals'),
  setLock: call<'LockState', { locked: boolean }>('PATCH', '/admin/sessions/{session_id}/toggle_lock', 'LockState'),
  listUsers: call('GET', '/admin/users', 'UserPage'),
  setRoles: call<'AdminUser', Roles>('PUT', '/admin/users/{user_id}/roles', 'AdminUser'),
  listAudit: call('GET', '/admin/audit', 'AuditPage'),
}

/** The calls that request a round, by its operation. */
export const ROUND_CALLS = { generate: calls.generate, drift: calls.drift, import: calls.importResources }

/** The event streams of a session. */
export const STREAMS = {
  status: '/events/subscribe/{session_id}',
  activity: '/events/activity/{session_id}',
  output: '/events/output/{session_id}',
} as const

/** The components of the API's description, by name. A test compares this table with `/api/openapi.json`. */
export interface Components {
  AdminUser: z.output<typeof import('../../../routes/schemas/user.ts').AdminUser>
  AuditPage: z.output<typeof import('../../../routes/schemas/audit.ts').AuditPage>
  AuthConfig: z.output<typeof import('../../../routes/v1/auth/config.get.ts').AuthConfig>
  Decision: z.output<typeof import('../../../routes/v1/auth/authorize.post.ts').Decision>
  Delivery: z.output<typeof import('../../../routes/v1/notifications/send.post.ts').Delivery>
  LockState: z.output<typeof import('../../../routes/v1/admin/sessions/toggle-lock.patch.ts').LockState>
  MappingAnswer: z.output<typeof import('../../../routes/v1/mapping/resolve.post.ts').MappingAnswer>
  PullRequest: z.output<typeof import('../../../routes/v1/repository/pr.put.ts').PullRequest>
  Roots: z.output<typeof import('../../../routes/v1/repository/parse.post.ts').Roots>
  SealVerification: z.output<typeof import('../../../routes/schemas/seal.ts').SealVerification>
  SessionAggregate: z.output<typeof import('../../../routes/schemas/session.ts').SessionAggregate>
  SessionId: z.output<typeof import('../../../routes/schemas/session.ts').SessionId>
  SessionPage: z.output<typeof import('../../../routes/schemas/session.ts').SessionPage>
  SessionTotals: z.output<typeof import('../../../routes/v1/admin/sessions/summary.get.ts').SessionTotals>
  User: z.output<typeof import('../../../routes/schemas/user.ts').User>
  UserPage: z.output<typeof import('../../../routes/schemas/user.ts').UserPage>
}

export type Session = Components['SessionAggregate']
export type SessionSummary = Components['SessionPage']['items'][number]
export type Round = Session['rounds'][number]
export type Status = Session['current_status']
export type Cloud = Session['provider']
export type Seal = NonNullable<Session['seal']>
export type AttemptResult = Round['attempts'][number]
export type User = Components['User']
/** An event of the activity stream, and one of the output stream. */
export type { ActivityEvent, OutputEvent } from '../../../routes/sse-answers.ts'
/** The plan as data. */
export type { PlanDocument }
export type PlannedResource = PlanDocument['resources'][number]
export type Action = PlannedResource['action']
export type Finding = PlannedResource['findings'][number]
export type Severity = Finding['severity']

/** The body of a request for a round. `is_partial`, `preview` and `resource_ids` apply to drift and import only. */
type GenerateBody = z.input<typeof import('../../../routes/schemas/iac-request.ts').GenerateRequest>
export type RoundBody = z.input<typeof import('../../../routes/schemas/iac-request.ts').ImportRequest>
export type NotificationBody = z.input<
  typeof import('../../../routes/v1/notifications/send.post.ts').NotificationRequest
>
