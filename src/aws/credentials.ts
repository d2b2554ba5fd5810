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

/** Gives the credentials for one signature. It is called before each one and keeps its answer while it is valid. */
export type CredentialSource = () => Promise<AwsCredentials>

export const staticCredentials =
  (credentials: AwsCredentials): CredentialSource =>
  async () =>
    credentials

export interface ChainTools {
  aws: AwsVariables
  /** The purpose of the credentials in the words of the log, for example `the object store`. */
  purpose: string
  /** Region of the token service (STS). */
  region: string
  /** Address of the token service; by default that of the region. */
  stsUrl?: string
  fetch: Fetch
  /** Returns the text of a file, or null when there is no file at that path. Throws when it cannot be read. */
  readFile: (path: string) => Promise<string | null>
  now: () => Date
  log: Logger
  /** For profiles whose credentials a program or a session of single sign-on gives; without it they are refused. */
  delegates?: ProfileDelegates
}

export interface ProfileDelegates {
  /** Runs the command of `credential_process`. */
  process: (profile: string, command: string) => Promise<AwsCredentials>
  /** Reads the session of a user who has signed in. */
  singleSignOn: (profile: string) => Promise<AwsCredentials>
}

/**
 * Looks for credentials in one place. Null means that nothing is set up there, so that the next place is
 * tried. Errors: `CredentialError`.
 */
export type ChainLink = (tools: ChainTools) => Promise<AwsCredentials | null>

/**
 * There are no credentials. The message may be shown to users; it begins in lower case and has no full stop,
 * because callers put it behind a beginning of their own.
 */
export class CredentialError extends Error {
  override readonly name = 'CredentialError'
  /** True when the place could not be reached, so that a later attempt may succeed. */
  readonly transient: boolean
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause })
    this.transient = cause instanceof OutboundError
  }
}

/**
 * The error of a place that is set up but yields no credentials. The chain ends with it: to go on to the next
 * place could mean to act under another identity than the operator chose.
 */
export const credentialFault = (reason: string, cause?: unknown): CredentialError => new CredentialError(reason, cause)

const filled = v.pipe(v.string(), v.nonEmpty())
/** Temporary credentials as container and instance metadata write them. The token service says `SessionToken`. */
const schema = v.object({
  AccessKeyId: filled,
  SecretAccessKey: filled,
  Token: filled,
  Expiration: v.pipe(
    filled,
    v.check((text) => !Number.isNaN(Date.parse(text))),
  ),
})

/** Returns null when the value is no complete set of temporary credentials. */
export function parseCredentials(answer: unknown): AwsCredentials | null {
  const parsed = v.safeParse(schema, answer)
  if (!parsed.success) return null
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = parsed.output
  return { access_key: AccessKeyId, secret_key: SecretAccessKey, session_token: Token, expires: new Date(Expiration) }
}

/** The same for a JSON text; null also when the text is not JSON. */
export function parseCredentialsJson(text: string): AwsCredentials | null {
  try {
    return parseCredentials(JSON.parse(text))
  } catch {
    return null
  }
}

/**
 * Reads a file without surrounding blanks; a missing file reads as an empty text.
 * @param what how an error text names the file, which must not show its path
 * Errors: `CredentialError`.
 */
export async function readNamedFile(tools: Pick<ChainTools, 'readFile'>, path: string, what: string): Promise<string> {
  try {
    return (await tools.readFile(path))?.trim() ?? ''
  } catch (error) {
    throw credentialFault(`${what} cannot be read${systemCode(error)}`, error)
  }
}
