import * as v from 'valibot'
import { systemCode } from '../../config/document.ts'
import type { AwsVariables } from '../../config/types.ts'
import { type Fetch, OutboundError } from '../base/http.ts'
import type { Logger } from '../base/log.ts'

export interface AwsCredentials {
  access_key: string
  secret_key: string
  session_token?: string
  /** Absent when the credentials do not expire. */
  expires?: Date
}

/**
 * Returns the credentials for one signature. It is called before each one and caches valid credentials.
 * @param refused credentials that a service no longer accepts: they are looked up anew if they are the cached ones
 */
export type CredentialSource = (refused?: AwsCredentials) => Promise<AwsCredentials>

export const staticCredentials =
  (credentials: AwsCredentials): CredentialSource =>
  async () =>
    credentials

export interface ChainTools {
  aws: AwsVariables
  /** The purpose of the credentials as the log names it, for example `the object store`. */
  purpose: string
  /** Region of the token service (STS). */
  region: string
  /** URL of the token service; by default that of the region. */
  stsUrl?: string
  fetch: Fetch
  /** Returns the text of a file, or null when there is no file at that path. Throws when it cannot be read. */
  readFile: (path: string) => Promise<string | null>
  now: () => Date
  log: Logger
  /** Reads profiles that use a command or single sign-on; without it they are refused. */
  delegates?: ProfileDelegates
}

interface ProfileDelegates {
  /** Runs the command of `credential_process`. */
  process: (profile: string, command: string) => Promise<AwsCredentials>
  /** Reads the session of a signed-in user. */
  singleSignOn: (profile: string) => Promise<AwsCredentials>
}

/** Looks for credentials in one source; null if it is not configured. Throws `CredentialError`. */
export type ChainLink = (tools: ChainTools) => Promise<AwsCredentials | null>

/** No credentials are available. The message may be shown; callers put a prefix before it. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError'
  /** True if the source could not be reached, so that a later attempt may succeed. */
  readonly transient: boolean
  constructor(reason: string, cause?: unknown, transient = cause instanceof OutboundError) {
    super(reason, { cause })
    this.transient = transient
  }
}

/**
 * Makes the error of a configured source that yields no credentials. It ends the chain, because the next source could
 * be a different identity than the operator chose.
 */
export const credentialFault = (reason: string, cause?: unknown): CredentialError => new CredentialError(reason, cause)

const filled = v.pipe(v.string(), v.nonEmpty())
/** Temporary credentials as container and instance metadata return them. The token service says `SessionToken`. */
const schema = v.object({
  AccessKeyId: filled,
  SecretAccessKey: filled,
  Token: filled,
  Expiration: v.pipe(
    filled,
    v.check((text) => !Number.isNaN(Date.parse(text))),
  ),
})

/** Parses temporary credentials; null when they are incomplete. */
export function parseCredentials(answer: unknown): AwsCredentials | null {
  const parsed = v.safeParse(schema, answer)
  if (!parsed.success) return null
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = parsed.output
  return { access_key: AccessKeyId, secret_key: SecretAccessKey, session_token: Token, expires: new Date(Expiration) }
}

/**
 * Reads a file and trims it; a missing file reads as an empty text.
 * @param what the name of the file in error texts, which must not show its path
 * Throws `CredentialError`.
 */
export async function readNamedFile(tools: Pick<ChainTools, 'readFile'>, path: string, what: string): Promise<string> {
  try {
    return (await tools.readFile(path))?.trim() ?? ''
  } catch (error) {
    throw credentialFault(`${what} cannot be read${systemCode(error)}`, error)
  }
}
