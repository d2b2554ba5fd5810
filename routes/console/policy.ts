import { createS3Address } from '../../src/data/storage/addresses.ts'
import type { CoreContext } from '../context.ts'

type Config = CoreContext['config']

/**
 * The Content-Security-Policy of the console: its own files, the API, the artifacts and the identity provider, and
 * nothing else. The hidden frame in which a token is renewed may only stand in a page of this server.
 */
export function consolePolicy(config: Config): string {
  const issuer = originOf(config.oidc.issuer_url)
  const connect = ["'self'", originOf(artifactAddress(config)), issuer].filter((source) => source !== '')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "worker-src 'self'",
    `connect-src ${[...new Set(connect)].join(' ')}`,
    `frame-src 'self'${issuer && ` ${issuer}`}`,
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "object-src 'none'",
  ].join('; ')
}

/** Where browsers read artifacts: the address in presigned URLs. */
const artifactAddress = ({ storage }: Config): string =>
  storage.provider === 'STORAGE_ACCOUNT' ? storage.endpoint_url : createS3Address(storage).public(storage.bucket, 'a')

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '')
