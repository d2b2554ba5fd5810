import type { AwsVariables } from '../../../../config/types.ts'
import { internal, type PlatformError, unavailable } from '../../../errors.ts'
import { type Fetch, OutboundError } from '../../../http/outbound.ts'
import type { Logger } from '../../../log/logger.ts'

export interface S3Credentials {
  access_key: string
  secret_key: string
  session_token?: string
  /** Absent when they do not lapse by themselves. */
  expires?: Date
}

/** Asked before each signature; keeps what it got for as long as that is valid. */
export type CredentialSource = () => Promise<S3Credentials>

export const staticCredentials =
  (credentials: S3Credentials): CredentialSource =>
  async () =>
    credentials

export interface ChainTools {
  aws: AwsVariables
  /** Of the store, and so of the token service. */
  region: string
  fetch: Fetch
  /** Text of a file; null when there is none at that path; throws when it cannot be read. */
  read_file: (path: string) => Promise<string | null>
  now: () => Date
  log: Logger
}

/** One place to look. Null: not set up here, the next one is asked. Errors: `PlatformError` 500 or 503. */
export type ChainLink = (tools: ChainTools) => Promise<S3Credentials | null>

/** A source that is set up but gives nothing: another identity must not be used in its place. */
export function credentialFault(reason: string, cause?: unknown): PlatformError {
  const text = `No credentials for the object store: ${reason}.`
  return cause instanceof OutboundError ? unavailable(text, cause) : internal(text, cause)
}
