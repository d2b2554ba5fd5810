import {
  type AwsCredentials,
  type ChainLink,
  type ChainTools,
  type CredentialSource,
  credentialFault,
} from './credentials.ts'
import { fromContainer, fromInstance, fromVariables, fromWebIdentity } from './environment.ts'
import { fromProfile } from './profile.ts'

const LINKS: readonly (readonly [string, ChainLink])[] = [
  ['key variables', fromVariables],
  ['web identity', fromWebIdentity],
  ['shared files', fromProfile],
  ['container', fromContainer],
  ['instance metadata', fromInstance],
]

/**
 * Makes the default credential chain of AWS. The sources are tried in the order of `LINKS`. The first configured one is
 * used, for later renewals too. Throws `CredentialError`.
 */
export function defaultCredentials(tools: ChainTools): CredentialSource {
  let chosen: ChainLink | null = null
  const lookUp: CredentialSource = async () => {
    for (const [source, link] of LINKS) {
      if (chosen && link !== chosen) continue
      const credentials = await link(tools)
      if (!credentials) continue
      if (!chosen)
        tools.log.info(`credentials of ${tools.purpose} found`, {
          source,
          expires: credentials.expires?.toISOString() ?? null,
        })
      chosen = link
      return credentials
    }
    throw credentialFault(chosen ? 'the place they came from has none any more' : 'no place to look for them is set up')
  }
  return cacheCredentials(lookUp, tools)
}

/** Credentials are renewed five minutes before they expire, so that pending requests still have valid ones. */
const RENEW_BEFORE_MS = 5 * 60_000
/** Credentials without an expiry are reloaded every 15 minutes, because their files may be rotated. */
const LASTING_MS = 15 * 60_000
const RETRY_MS = 30_000

/**
 * Caches credentials until shortly before they expire. Concurrent callers share one renewal. If a renewal fails while
 * the current credentials are still valid, they stay in use and the next attempt follows 30 seconds later.
 */
export function cacheCredentials(
  lookUp: CredentialSource,
  { now, log, purpose }: Pick<ChainTools, 'now' | 'log' | 'purpose'>,
): CredentialSource {
  let kept: AwsCredentials | null = null
  let renewAt = 0
  let pending: Promise<AwsCredentials> | null = null
  const renew = async (): Promise<AwsCredentials> => {
    try {
      kept = await lookUp()
      const present = now().getTime()
      // At least 30 seconds ahead, so that not every signature renews short-lived credentials.
      renewAt = kept.expires
        ? Math.max(kept.expires.getTime() - RENEW_BEFORE_MS, present + RETRY_MS)
        : present + LASTING_MS
      return kept
    } catch (error) {
      if (!kept || (kept.expires && kept.expires <= now())) throw error
      log.warn(`credentials of ${purpose} were not renewed, the present ones are still valid`, { error })
      renewAt = now().getTime() + RETRY_MS
      return kept
    }
  }
  return async (refused) => {
    if (kept && kept !== refused && now().getTime() < renewAt) return kept
    pending ??= renew().finally(() => {
      pending = null
    })
    return pending
  }
}
