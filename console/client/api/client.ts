import type { z } from '@hono/zod-openapi'
import type { PlanDocument } from '../../../routes/openapi/document.ts'
import { parseJson } from '../json.ts'
import { createStore } from '../observable.ts'

export interface Tokens {
  /** Returns the bearer token, renewed if it is about to expire; null when authentication is disabled. */
  token(): Promise<string | null>
  /** Handles a 401 answer. Returns true if a new token was obtained, so that the request is worth a second attempt. */
  refused(): Promise<boolean>
}

export interface Query {
  [name: string]: string | number | boolean | undefined
}

interface Request {
  method: string
  /** The path below `/api/v1`, for example `/users/me`. */
  path: string
  query?: Query
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** The client of the platform's API. */
export type Api = ReturnType<typeof createApi>

/** The timeout. The API's slowest answers take 50 seconds (pull requests). Streams have no timeout of their own. */
const TIMEOUT_MS = 60_000
/** The difference of clocks that is not corrected, in milliseconds. */
const TOLERATED_MS = 5_000

interface Options {
  /** The address of the API, without a slash at the end. */
  base: string
  tokens: Tokens
  fetch?: typeof fetch
}

export function createApi({ base, tokens, fetch: call = (input, init) => fetch(input, init) }: Options) {
  const connection = watchConnection(() => call(`${base}/auth/config`, { signal: AbortSignal.timeout(10_000) }))

  let ahead = 0
  const seeClock = (date: string | null) => {
    const difference = Date.parse(date ?? '') - Date.now()
    // The header has whole seconds and the answer took time, so a small difference says nothing.
    if (!Number.isNaN(difference)) ahead = Math.abs(difference) < TOLERATED_MS ? 0 : difference
  }

  const once = async (request: Request): Promise<Response> => {
    const { method, path, query, body, signal } = request
    const headers = new Headers(request.headers)
    const token = await tokens.token()
    if (token !== null) headers.set('authorization', `Bearer ${token}`)
    if (body !== undefined) headers.set('content-type', 'application/json')
    const isStream = headers.get('accept') === 'text/event-stream'
    const limits = [signal ?? [], isStream ? [] : AbortSignal.timeout(TIMEOUT_MS)].flat()
    try {
      const response = await call(`${base}${path}${toSearch(query)}`, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.any(limits),
        cache: 'no-store',
      })
      connection.found()
      seeClock(response.headers.get('date'))
      return response
    } catch (error) {
      if (signal?.aborted) throw error
      connection.lost()
      throw new Unreachable({ cause: error })
    }
  }
  /** Sends a request and returns its answer. Throws `ApiError` (refused), `Unreachable` (no answer) or `AbortError`. */
  const send = async (request: Request): Promise<Response> => {
    let response = await once(request)
    if (response.status === 401 && (await tokens.refused())) response = await once(request)
    if (response.ok) return response
    throw toApiError(response.status, await response.text().catch(() => ''))
  }
  /** Returns the body of the answer as JSON, null when it is empty. Throws as `send`. */
  const json = async <T>(request: Request): Promise<T> => {
    const response = await send(request)
    const text = await response.text().catch((error: unknown) => {
      if (request.signal?.aborted) throw error
      throw new Unreachable({ cause: error })
    })
    const answer = text === '' ? null : parseJson(text)
    // An intermediary, such as the sign-in page of a network, answers other texts.
    if (answer === undefined) throw new ApiError(502, 'An intermediary answered instead of the platform.')
    return answer as T
  }
  /** Returns the platform's time in milliseconds of the epoch, because the clock of this machine may be wrong. */
  const now = (): number => Date.now() + ahead
  return { connection: connection.state, now, send, json }
}

function toSearch(query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}

/** The state of the connection. `since` is the time of the loss in milliseconds of the epoch. */
type Connection = { online: true } | { online: false; since: number }

/**
 * Watches the connection. After a loss, `probe`, which resolves when the platform answers anything, runs until it does.
 */
function watchConnection(probe: () => Promise<unknown>) {
  const state = createStore<Connection>({ online: true })
  let timer: ReturnType<typeof setTimeout> | undefined
  const tryAgain = (wait: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => probe().then(found, () => tryAgain(Math.min(wait * 2, 15_000))), wait)
  }
  /** Records a request without an answer. */
  const lost = () => {
    if (!state.get().online) return
    state.set({ online: false, since: Date.now() })
    tryAgain(1_000)
  }
  /** Records a request with an answer. */
  const found = () => {
    clearTimeout(timer)
    if (!state.get().online) state.set({ online: true })
  }
  addEventListener('offline', lost)
  addEventListener('online', () => {
    if (!state.get().online) tryAgain(0)
  })
  return { state, lost, found }
}

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
  getMyUsage: call('GET', '/users/me/usage', 'ModelUsage'),

  generate: call<'SessionId', GenerateBody>('POST', '/iac/generate', 'SessionId'),
  drift: call<'SessionId', RoundBody>('POST', '/iac/drift', 'SessionId'),
  importResources: call<'SessionId', RoundBody>('POST', '/iac/import', 'SessionId'),
  apply: call<'SessionId', SessionRef>('POST', '/iac/apply', 'SessionId'),
  cancel: call<'SessionId', SessionRef>('POST', '/iac/cancel', 'SessionId'),
  verifySeal: call<'SealVerification', SessionRef>('POST', '/iac/seal/verify', 'SealVerification'),

  parseRepository: call<'Roots', { repo_uri: string }>('POST', '/repository/parse', 'Roots'),
  openPullRequest: call<'PullRequest', SessionRef>('PUT', '/repository/pr', 'PullRequest'),
  getMergeReadiness: call('GET', '/repository/pr/readiness', 'MergeReadiness'),
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
  setLock: call<'LockState', { locked: boolean; reason?: string }>(
    'PATCH',
    '/admin/sessions/{session_id}/toggle_lock',
    'LockState',
  ),
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
  MergeReadiness: z.output<typeof import('../../../routes/schemas/readiness.ts').MergeReadiness>
  ModelUsage: z.output<typeof import('../../../routes/v1/users/usage.get.ts').ModelUsage>
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
export type Roots = Components['Roots']
export type Seal = NonNullable<Session['seal']>
export type AttemptResult = Round['attempts'][number]
export type User = Components['User']
export type Budget = Components['ModelUsage']['budgets'][number]
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

/** One entry of a 422 answer: its place in the request, and the broken rule. */
interface Problem {
  loc: (string | number)[]
  msg: string
}

/** An answer other than success. `message` is a sentence that may be shown. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  /** The problems of a 422 answer; empty for any other. */
  readonly problems: Problem[]
  /** The whole body, in which some errors say more. Its form is not checked. */
  readonly envelope: Readonly<Record<string, unknown>>
  constructor(
    status: number,
    message: string,
    problems: Problem[] = [],
    envelope: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
    this.status = status
    this.problems = problems
    this.envelope = envelope
  }
}

/** A failure to reach the platform, or to get its answer in time. */
export class Unreachable extends Error {
  override name = 'Unreachable'
  constructor(options?: ErrorOptions) {
    super('The platform cannot be reached.', options)
  }
}

/** A failure of the sign-in at the identity provider. `message` is a sentence that may be shown. */
export class SignInFailed extends Error {
  override name = 'SignInFailed'
}

/** Reads the envelope `{"detail": …}` of an error. Tolerates the answers of proxies, which have other bodies. */
export function toApiError(status: number, text: string): ApiError {
  const body = parseJson(text)
  const envelope = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const { detail } = envelope
  const problems = Array.isArray(detail) ? detail.filter(isProblem) : []
  const message = Array.isArray(detail) ? problems.map(({ msg }) => msg).join(' ') : detail
  const isSentence = typeof message === 'string' && message !== ''
  return new ApiError(status, isSentence ? message : `The platform answered ${status}.`, problems, envelope)
}

const isProblem = (entry: unknown): entry is Problem => {
  const { loc, msg } = (entry ?? {}) as Partial<Problem>
  return Array.isArray(loc) && typeof msg === 'string'
}

/** Returns the problems of a 422 answer by the last name in their place (`q`); those of no field are under ''. */
export function problemsByField(error: unknown): Record<string, string> {
  const fields: Record<string, string> = {}
  if (!(error instanceof ApiError)) return fields
  for (const { loc, msg } of error.problems) {
    const name = loc.findLast((part) => typeof part === 'string' && part !== 'body') ?? ''
    fields[name] = fields[name] ? `${fields[name]} ${msg}` : msg
  }
  return fields
}

/** Returns a sentence for anything that was thrown. */
export const messageOf = (error: unknown): string =>
  error instanceof ApiError || error instanceof Unreachable || error instanceof SignInFailed
    ? error.message
    : 'Something went wrong in this page.'
