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
import type { Readiness } from './readiness/findings.ts'

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
  /** Seconds to wait for a pull request to become ready. */
  readinessSeconds: number
}

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
  (access: HostAccess, { query = '', ...options }: Pick<OutboundRequest, 'headers'> & { query?: string }) =>
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

/**
 * Sends a request to a provider and returns a 2xx response, read completely and within a limit. Errors: those of
 * `PullRequestHost`, a timeout with the text `late`.
 */
export async function callProvider(
  access: HostAccess,
  request: Omit<OutboundRequest, 'timeoutMs' | 'maxBytes'> & { signal: AbortSignal },
  late: string,
): Promise<OutboundResponse> {
  const limits = { timeoutMs: 20_000, maxBytes: 4 * 1024 * 1024 }
  const response = await send(access.fetch, { ...request, ...limits }).catch((error: unknown) => {
    throw transportFault(error, request.signal, late)
  })
  if (response.status >= 400)
    throw new ProviderRefusal(response.status, removeSecrets(access.git, response.text()).slice(0, 2_000))
  // Azure DevOps answers an unknown token with a sign-in page: 203, or a redirect to it.
  if (response.status >= 300 || response.status === 203)
    throw badGateway(
      `The git provider answered HTTP ${response.status} in place of a result; ` +
        'check the token and the address of its interface.',
    )
  return response
}

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
  constructor(providerStatus: number, text: string) {
    const passes = providerStatus < 600 && ![401, 403, 407].includes(providerStatus)
    super(
      'PullRequestRefused',
      passes ? providerStatus : 502,
      text.trim() || `The git provider answered ${providerStatus}.`,
    )
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
    ...[git.user, ''].map((user) => basicAuthorization(user, git.token).slice(6)),
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
    /** Rethrows an error of a merge request; a 409 for a named commit means that the branch is at another one. */
    rethrowMoved: (error: unknown): never => {
      throw commit !== undefined && refusedWith(error, 409) ? moved(commit) : error
    },
  }
}
