import * as v from 'valibot'
import type { AwsVariables } from '../../../config/types.ts'
import { type Fetch, OutboundError } from '../http.ts'
import type { Logger } from '../log.ts'

export interface AwsCredentials {
  access_key: string
  secret_key: string
  session_token?: string
  /** Absent when they do not lapse by themselves. */
  expires?: Date
}

/** Asked before each signature; keeps what it got for as long as that is valid. */
export type CredentialSource = () => Promise<AwsCredentials>

export const staticCredentials =
  (credentials: AwsCredentials): CredentialSource =>
  async () =>
    credentials

export interface ChainTools {
  aws: AwsVariables
  /** What they are for, as the log shall say it. */
  purpose: string
  /** Of the token service. */
  region: string
  /** Address of the token service; default is the region's own. */
  sts_url?: string
  fetch: Fetch
  /** Text of a file; null when there is none at that path; throws when it cannot be read. */
  read_file: (path: string) => Promise<string | null>
  now: () => Date
  log: Logger
}

/** One place to look. Null: not set up here, the next one is asked. Errors: `CredentialError`. */
export type ChainLink = (tools: ChainTools) => Promise<AwsCredentials | null>

/** There are no credentials. The message may be shown; it begins in lower case and has no full stop. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError'
  /** The place could not be reached: a later attempt may do better. */
  readonly transient: boolean
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause })
    this.transient = cause instanceof OutboundError
  }
}

/** A source that is set up but gives nothing: another identity must not be used in its place. */
export const credentialFault = (reason: string, cause?: unknown): CredentialError => new CredentialError(reason, cause)

const filled = v.pipe(v.string(), v.nonEmpty())
/** The form of container and instance metadata; the token service names the token differently. */
const schema = v.object({
  AccessKeyId: filled,
  SecretAccessKey: filled,
  Token: filled,
  Expiration: v.pipe(
    filled,
    v.check((text) => !Number.isNaN(Date.parse(text))),
  ),
})

/** Null when the answer is no set of temporary credentials. */
export function parseCredentials(answer: unknown): AwsCredentials | null {
  const parsed = v.safeParse(schema, answer)
  if (!parsed.success) return null
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = parsed.output
  return { access_key: AccessKeyId, secret_key: SecretAccessKey, session_token: Token, expires: new Date(Expiration) }
}

export function parseCredentialsJson(text: string): AwsCredentials | null {
  try {
    return parseCredentials(JSON.parse(text))
  } catch {
    return null
  }
}

/** Text of a file without surrounding blanks; empty when it is missing. Faults name what it is, not where it is. */
export async function readNamedFile(tools: Pick<ChainTools, 'read_file'>, path: string, what: string): Promise<string> {
  try {
    return (await tools.read_file(path))?.trim() ?? ''
  } catch (error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
    throw credentialFault(`${what} cannot be read${code}`, error)
  }
}
