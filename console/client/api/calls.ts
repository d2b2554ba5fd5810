import type { Api, Query } from './client.ts'
import type { Components, GenerateBody, NotificationBody, RoundBody } from './schemas.ts'

interface CallOptions<Body> {
  query?: Query
  body?: Body
  /** The values for the `{names}` in the path. */
  params?: Record<string, string | number>
  signal?: AbortSignal
}

/** A route of the API. `answer` names the component that describes its answer; null: it has none. */
export interface Call<Answer, Body> {
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

/** The event streams of a session. */
export const STREAMS = {
  status: '/events/subscribe/{session_id}',
  activity: '/events/activity/{session_id}',
  output: '/events/output/{session_id}',
} as const
