import { readDiscovery } from '../../src/access/issuer.ts'
import { createS3Address } from '../../src/data/storage/addresses.ts'
import type { CoreContext } from '../env.ts'

type Given = Pick<CoreContext, 'config' | 'fetch' | 'log' | 'now'>
interface ProviderOrigins {
  token: string
  authorization: string
}

/** Longest wait of a page for the identity provider's discovery document. */
const WAIT_MS = 2_000
const TRY_AGAIN_MS = 10_000

/**
 * Makes a function that returns the Content-Security-Policy of the console's pages. It allows only the console's own
 * files, the API, the artifacts and the identity provider, whose endpoints are discovered once, because they may be on
 * other hosts than the issuer. Until then, only the issuer is allowed.
 */
export function createPolicy(context: Given): () => Promise<string> {
  const { config, fetch, log, now } = context
  const issuer = config.oidc.issuer_url
  let known: ProviderOrigins | null = null
  let asking: Promise<void> | null = null
  let failedAt = Number.NEGATIVE_INFINITY
  const ask = async () => {
    try {
      const { token_endpoint = '', authorization_endpoint = '' } = await readDiscovery(issuer, fetch)
      known = { token: originOf(token_endpoint), authorization: originOf(authorization_endpoint) }
    } catch (error) {
      failedAt = now().getTime()
      log.warn(
        'the identity provider does not say where its endpoints are, so pages of the console reach its issuer only',
        { error },
      )
    } finally {
      asking = null
    }
  }
  return async () => {
    if (issuer !== '' && known === null && now().getTime() - failedAt > TRY_AGAIN_MS) {
      asking ??= ask()
      await Promise.race([asking, new Promise((resolve) => setTimeout(resolve, WAIT_MS))])
    }
    return writePolicy(config, known ?? { token: '', authorization: '' })
  }
}

function writePolicy(config: CoreContext['config'], { token, authorization }: ProviderOrigins): string {
  const issuer = originOf(config.oidc.issuer_url)
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "worker-src 'self'",
    `connect-src ${sources(originOf(artifactAddress(config)), issuer, token)}`,
    // The hidden frame that renews a token loads the provider's page first, then ours.
    `frame-src ${sources(issuer, authorization)}`,
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "object-src 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ')
}

const sources = (...origins: string[]): string => [...new Set(["'self'", ...origins])].filter(Boolean).join(' ')

/** Returns the address from which browsers read artifacts, as in presigned URLs. */
const artifactAddress = ({ storage }: CoreContext['config']): string =>
  storage.provider === 'STORAGE_ACCOUNT' ? storage.endpoint_url : createS3Address(storage).public(storage.bucket, 'a')

/** Returns the origin of a URL. A host name may have characters that would end a source of the policy. */
const originOf = (url: string): string => {
  const origin = URL.parse(url)?.origin ?? ''
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? origin : ''
}
