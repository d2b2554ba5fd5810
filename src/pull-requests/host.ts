import * as v from 'valibot'
import type { GitConfig } from '../../config/types.ts'
import { badGateway, badRequest, conflict, gatewayTimeout, notFound, PlatformError } from '../base/errors.ts'
import {
  basicAuthorization,
  delay,
  type Fetch,
  OutboundError,
  type OutboundRequest,
  type OutboundResponse,
  send,
} from '../base/http.ts'
import { parseJson } from '../base/json.ts'
import { MAX_MOVES, REDIRECTS } from '../repository/moved.ts'
import { readLimit, whenText } from './limits.ts'
import { describeTarget, type Readiness } from './readiness/findings.ts'

interface NewPullRequest {
  title: string
  description: string
  /** Branch with the changes. */
  head: string
  /** Branch to merge into. */
  base: string
}

export interface CreatedPullRequest {
  /** Number that the provider shows. */
  id: number
  /** Address of its page. */
  url: string
  /** State in the provider's words. */
  status: string
}

export interface MergeOptions {
  /** Hexadecimal commit; the merge fails when the branch is at another one. Without it any commit is merged. */
  commit?: string | undefined
  /** Runs right before the merge request; throwing prevents the merge. */
  confirm(): Promise<void>
  signal: AbortSignal
}

/** `merged_before`: the host had merged it already, at the commit that may be merged. */
export type MergeEnd = 'merged' | 'merged_before'

/**
 * Client for pull requests of one repository. Errors: `PlatformError` with the provider's status and text; 502 when the
 * provider refuses the credentials, cannot be reached or answers in an unexpected form; 504 `PR creation timeout` or
 * `Complete PR timeout` when a single request takes more than 20 seconds; the signal's reason.
 */
export interface PullRequestHost {
  /** Longest description, in UTF-16 units; longer ones are cut. */
  readonly maxDescription: number
  /** Opens a pull request, or returns the open one of the same branches. */
  create(request: NewPullRequest, signal: AbortSignal): Promise<CreatedPullRequest>
  /**
   * Merges a pull request by the preferred method if the host allows it, else by one that it allows. Further errors:
   * 404 when it is closed, or merged already at another commit, 400 when it cannot be merged, 409 when its branch is
   * not at the given commit, 504 when it does not become ready in time.
   */
  merge(number: number, options: MergeOptions): Promise<MergeEnd>
  /** Reads what stands in the way of a merge. What the host does not say is unknown, and no error. */
  readiness(number: number, options: Pick<MergeOptions, 'commit' | 'signal'>): Promise<Readiness>
}

/** The platform's functions and settings for an adapter. */
export interface HostAccess {
  git: GitConfig
  fetch: Fetch
  /** Earlier answers of the host with their marks, by question: what has not changed is not sent, nor counted, again. */
  known?: KnownAnswers
  /** Seconds to wait for a pull request to become ready. */
  readinessSeconds: number
  /** When the whole call ends, as of `performance.now()`: no wait goes on beyond it. */
  until: number
}

/** An answer as it was checked, with the entity tag that the host gave it. */
export type KnownAnswers = Map<string, { etag: string; data: unknown }>

/** Creates the adapter for a repository address. Errors: 400 for an address that is not the provider's. */
export type HostFactory = (access: HostAccess, uri: string) => PullRequestHost

export const CREATE_LATE = 'PR creation timeout'
export const MERGE_LATE = 'Complete PR timeout'

/**
 * Returns a function that calls a provider in the form `calls(late, signal)(schema, method, url, json?)` and returns the
 * checked answer. Errors: those of `PullRequestHost`.
 * @param options.query the query that is appended to each address
 */
export const createCalls =
  (access: HostAccess, { query = '', ...options }: { api: string; headers: Record<string, string>; query?: string }) =>
  (late: string, signal: AbortSignal) =>
  async <Schema extends v.GenericSchema>(
    schema: Schema,
    method: string,
    url: string,
    json?: unknown,
  ): Promise<v.InferOutput<Schema>> => {
    const address = url.includes('?') ? `${url}${query.replace('?', '&')}` : `${url}${query}`
    const response = await callProvider(access, { ...options, method, url: address, json, signal }, late)
    return checkAnswer(schema, parseJson(response.text()))
  }

/** Milliseconds of a single request. */
export const CALL_MS = 20_000
/** Most repetitions of a request that the host does not carry out, and of one that only reads. */
const REPETITIONS = 3
/** Milliseconds that a request takes at least after a wait. */
const SPARE_MS = 2_000

/**
 * Sends a request to a provider and returns a 2xx response, read completely and within a limit. Requests that the
 * provider limits are repeated when it says, and those that only read after faults on the way, as long as the whole
 * call lasts. A redirect is followed below the address of the interface alone, so that no credentials go elsewhere: a
 * host that has renamed a repository answers so.
 * @param request.api the address of the interface
 * Errors: those of `PullRequestHost`, a timeout with the text `late`; see `isUncertain`.
 */
export async function callProvider(
  access: HostAccess,
  { api, ...request }: Omit<OutboundRequest, 'timeoutMs' | 'maxBytes'> & { api: string; signal: AbortSignal },
  late: string,
): Promise<OutboundResponse> {
  const limits = { timeoutMs: CALL_MS, maxBytes: 4 * 1024 * 1024 }
  const onlyReads = (request.method ?? 'GET') === 'GET'
  let url = request.url
  for (let [repetition, moves] = [0, 0]; ; repetition++) {
    const isLast = repetition >= REPETITIONS || access.until - performance.now() < SPARE_MS
    const response = await send(access.fetch, { ...request, url, ...limits }).catch((error: unknown) => {
      const fault = transportFault(error, request.signal, late)
      if (!onlyReads && error instanceof OutboundError && error.kind !== 'aborted') markUncertain(fault)
      if (isLast || !onlyReads || !isNetworkFault(error)) throw fault
      return null
    })
    const moved = response && redirectTarget(response, { url, api, onlyReads })
    if (moved && moves++ < MAX_MOVES) {
      url = moved
      repetition--
      continue
    }
    const limit = response && readLimit(response)
    if (response && limit === null && !(onlyReads && BROKEN_ON_THE_WAY.includes(response.status)))
      return acceptAnswer(access.git, response, onlyReads)
    const told = limit === 'unknown' ? null : limit
    if (response && (isLast || (told ?? 0) > access.until - performance.now() - SPARE_MS))
      throw refuse(access.git, response, told)
    if (told === null) await waitBetween(repetition, request.signal)
    else await waitUnlessAborted(told, request.signal)
  }
}

/** Returns where a redirect leads; null for other answers, and where the request may not be sent. */
function redirectTarget(
  { status, headers }: OutboundResponse,
  { url, api, onlyReads }: { url: string | URL; api: string; onlyReads: boolean },
): string | null {
  // After other redirects than these two, clients may turn a change into a reading.
  if (!(onlyReads ? REDIRECTS : [307, 308]).includes(status)) return null
  const to = URL.parse(headers.get('location') ?? '', url)
  return to?.href.startsWith(`${new URL(api).href.replace(/\/$/, '')}/`) && headers.has('location') ? to.href : null
}

/** Statuses of servers between us and the host, and of a host that is restarting. */
const BROKEN_ON_THE_WAY: readonly number[] = [502, 503, 504]

const isNetworkFault = (error: unknown): boolean => error instanceof OutboundError && error.kind === 'network'

/** Waits before the repetition with this number, from 0, a little longer each time. Errors: the signal's reason. */
export const waitBetween = (repetition: number, signal: AbortSignal): Promise<void> =>
  waitUnlessAborted(200 * 2 ** repetition, signal)

async function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, signal).catch(() => {
    throw signal.reason
  })
}

function acceptAnswer(git: GitConfig, response: OutboundResponse, onlyReads: boolean): OutboundResponse {
  if (response.status >= 400) {
    const refusal = refuse(git, response, null)
    if (!onlyReads && response.status >= 500) markUncertain(refusal)
    throw refusal
  }
  // Azure DevOps answers an unknown token with a sign-in page: 203, or a redirect to it.
  // 304 answers a conditional question alone.
  if ((response.status >= 300 && response.status !== 304) || response.status === 203)
    throw badGateway(
      `The git provider answered HTTP ${response.status} in place of a result; ` +
        'check the token and the address of its interface.',
    )
  return response
}

/** @param waitMs milliseconds after which a host that limits requests takes the next; null when it says nothing */
function refuse(git: GitConfig, response: OutboundResponse, waitMs: number | null): ProviderRefusal {
  const text = removeSecrets(git, response.text()).slice(0, 2_000)
  return new ProviderRefusal(response.status, text, waitMs === null ? undefined : Math.ceil(waitMs / 1_000))
}

const uncertain = new WeakSet<object>()

function markUncertain(error: unknown): void {
  if (error instanceof Error) uncertain.add(error)
}

/** Reports whether nobody knows if the host carried out the change that ended with this error. */
export const isUncertain = (error: unknown): boolean => error instanceof Error && uncertain.has(error)

/** Reports whether the host answered that it carried out a call, in a form that cannot be read. */
export const isUnreadable = (error: unknown): boolean => error instanceof Error && error.cause instanceof v.ValiError

/** Validates an answer; one that is not JSON counts as undefined, which `v.unknown()` accepts. Errors: 502. */
export function checkAnswer<Schema extends v.GenericSchema>(schema: Schema, answer: unknown): v.InferOutput<Schema> {
  const read = v.safeParse(schema, answer)
  if (!read.success) throw unexpectedForm(new v.ValiError(read.issues))
  return read.output
}

function transportFault(error: unknown, signal: AbortSignal, late: string): unknown {
  if (!(error instanceof OutboundError)) return error
  if (error.kind === 'aborted') return signal.reason
  if (error.kind === 'timeout') return gatewayTimeout(late, error)
  return error.kind === 'body' ? unexpectedForm(error) : badGateway('The git provider is not reachable.', error)
}

/** A provider's error text and status. 401, 403 and 407 become 502: clients would end their own login. */
class ProviderRefusal extends PlatformError {
  readonly providerStatus: number
  constructor(providerStatus: number, text: string, retryAfterSeconds?: number) {
    const passes = providerStatus < 600 && ![401, 403, 407].includes(providerStatus)
    const words = text.trim() || `The git provider answered ${providerStatus}.`
    const told =
      retryAfterSeconds === undefined ? '' : `\nThe git host takes further requests ${whenText(retryAfterSeconds)}.`
    super('PullRequestRefused', passes ? providerStatus : 502, words + told, { retryAfterSeconds })
    this.providerStatus = providerStatus
  }
}

export const refusedWith = (error: unknown, status: number): boolean =>
  error instanceof ProviderRefusal && error.providerStatus === status

/** Reports whether the provider answered 404 with such a text. */
export const notFoundAtHost = (error: unknown, text: RegExp): boolean =>
  error instanceof ProviderRefusal && error.providerStatus === 404 && text.test(error.message)

/** Makes an answer of the provider that the caller can do without null when it fails. Errors: none of the provider. */
export const orNull = <Answer>(call: Promise<Answer>): Promise<Answer | null> =>
  call.catch((error: unknown) => {
    if (error instanceof PlatformError) return null
    throw error
  })

/** Removes the token from a provider's text, because some error pages repeat the request. */
function removeSecrets(git: GitConfig, text: string): string {
  const secrets = [
    git.token,
    encodeURIComponent(git.token),
    ...[git.user, '', 'x-access-token'].map((user) => basicAuthorization(user, git.token).slice(6)),
  ]
  return secrets.filter((secret) => secret !== '').reduce((masked, secret) => masked.replaceAll(secret, '***'), text)
}

const unexpectedForm = (cause: unknown): PlatformError =>
  badGateway('The git provider answered in an unexpected form.', cause)

/** Number of a pull request, limited by the database column. */
export const pullNumber = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2_147_483_647))
/** Address of a web page; clients show it as a link, so `javascript:…` and the like must not pass. */
export const pageUrl = v.pipe(v.string(), v.url(), v.regex(/^https?:\/\//i))

/**
 * Calls `ask` every second until its answer is not null. Errors: 504 `Pull Request <n> readiness polling exhausted.`
 * after `seconds` waits; the signal's reason.
 */
export async function pollUntilReady<Answer>(
  ask: () => Promise<Answer | null>,
  options: { number: number; seconds: number; signal: AbortSignal },
): Promise<Answer> {
  for (let waits = 0; ; waits++) {
    const answer = await ask()
    if (answer !== null) return answer
    if (waits >= options.seconds) throw gatewayTimeout(`Pull Request ${options.number} readiness polling exhausted.`)
    await delay(1_000, options.signal).catch(() => {
      throw options.signal.reason
    })
  }
}

/** Returns the errors of the merge of a pull request, at this commit if one is given. */
export function mergeErrors(number: number, commit: string | undefined) {
  const moved = (expected: string) =>
    conflict(
      `Pull Request ${number} holds code that was not reviewed: its branch is not at commit ${expected.slice(0, 12)}, ` +
        'with which the last completed round ended. PR merge is not allowed; run another round first.',
    )
  return {
    cannotBeMerged: () => badRequest(`Pull Request ${number} cannot be merged.`),
    /** Returns the 404 for a closed or merged pull request, as for a session without any. */
    notOpen: (state: string) => notFound(`There are no pull requests to merge: Pull Request ${number} is ${state}.`),
    /** Throws when the provider reports a branch at another commit than the one to merge. */
    assertAt: (current: string | undefined): void => {
      if (commit !== undefined && current !== undefined && current !== commit) throw moved(commit)
    },
    /** Throws when the pull request leads into another branch than the default one. */
    assertTarget: (base: string | null | undefined, defaultBranch: string | null | undefined): void => {
      const text = describeTarget(base, defaultBranch)
      if (text !== null) throw conflict(`Pull Request ${number} ${text} PR merge is not allowed.`)
    },
    /** Rethrows an error of a merge request; a 409 for a named commit means that the branch is at another one. */
    rethrowMoved: (error: unknown): never => {
      throw commit !== undefined && refusedWith(error, 409) ? moved(commit) : error
    },
  }
}
