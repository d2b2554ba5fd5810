import { randomBytes } from 'node:crypto'
import { isJsonObject } from '../../src/base/json.ts'
import { type Policy, parsePolicy } from './policy.ts'
import { denied, S3Error } from './s3.ts'
import { type Credentials, hmac, parseQuery, type SignedRequest, same } from './signature.ts'

/** The signer of a request: the store's owner, or a holder of temporary keys with their policy. */
export interface Signer extends Credentials {
  /** True for the owner's lasting keys. Temporary ones cannot create others. */
  isOwner: boolean
  /** Null if everything is allowed. */
  policy: Policy | null
}

interface TemporaryKeys extends Credentials {
  session_token: string
  expires: Date
}

/** Prefix of a temporary key's identifier, as in AWS. */
const PREFIX = 'ASIA'

/**
 * Makes temporary keys. Nothing is stored: the session token holds policy and expiry with the owner's signature, and
 * the secret key is derived from the token, so the keys survive a restart of the store.
 * @param policy text of the session policy; null allows everything that the owner may do
 */
function issueKeys(owner: Credentials, policy: string | null, expires: Date): TemporaryKeys {
  const access_key = PREFIX + randomBytes(8).toString('hex').toUpperCase()
  const body = Buffer.from(JSON.stringify({ access_key, policy, expires: expires.toISOString() })).toString('base64url')
  const session_token = `${body}.${sign(owner, 'token', body)}`
  return { access_key, secret_key: sign(owner, 'secret', body), session_token, expires }
}

const sign = (owner: Credentials, purpose: string, body: string): string =>
  hmac(`${purpose}:${owner.secret_key}`, body).toString('base64url')

/**
 * Finds the claimed signing keys of a request. The caller verifies the signature with them. Errors: `S3Error` for a
 * token that is missing, invalid or expired. For an unknown key it returns the owner, whose identifier does not match.
 */
export function findSigner(request: SignedRequest, owner: Credentials, now: Date): Signer {
  const query = new Map(parseQuery(request.query))
  const credential =
    query.get('X-Amz-Credential') ?? /Credential=([^,\s]+)/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const [access_key = ''] = credential.split('/')
  const token = query.get('X-Amz-Security-Token') ?? request.headers['x-amz-security-token']
  if (token === undefined) return { ...owner, isOwner: true, policy: null }
  return readToken(owner, access_key, token, now)
}

function readToken(owner: Credentials, access_key: string, token: string, now: Date): Signer {
  const [, body = '', signature = ''] = /^([\w-]+)\.([\w-]+)$/.exec(token) ?? []
  if (!same(signature, sign(owner, 'token', body))) throw invalidToken()
  const claims: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
  if (!isJsonObject(claims) || claims.access_key !== access_key) throw invalidToken()
  if (Date.parse(String(claims.expires)) <= now.getTime())
    throw new S3Error(400, 'ExpiredToken', 'The provided token has expired.')
  const policy = typeof claims.policy === 'string' ? parsePolicy(claims.policy) : []
  return {
    access_key,
    secret_key: sign(owner, 'secret', body),
    ...(owner.region === undefined ? {} : { region: owner.region }),
    isOwner: false,
    policy: claims.policy === null ? null : policy,
  }
}

const invalidToken = () => new S3Error(400, 'InvalidToken', 'The provided token is malformed or otherwise invalid.')

/** Shortest and longest lifetime in seconds, and the default. */
const LIFETIME = { min: 900, max: 43_200, default: 3_600 }

/**
 * Answers `AssumeRole` with temporary keys that the session policy limits. The role is ignored, because this store has
 * none: the keys come from the owner. Errors: `S3Error`.
 */
export function assumeRole(signer: Signer, fields: URLSearchParams, now: Date): TemporaryKeys {
  if (fields.get('Action') !== 'AssumeRole') throw new S3Error(400, 'InvalidAction', 'Only AssumeRole is known here.')
  if (!signer.isOwner) throw denied('Temporary keys cannot make further ones.')
  if (!/^[\w+=,.@-]{2,64}$/.test(fields.get('RoleSessionName') ?? ''))
    throw new S3Error(400, 'ValidationError', 'RoleSessionName must have 2 to 64 letters, digits or +=,.@-_')
  const seconds = Number(fields.get('DurationSeconds') ?? LIFETIME.default)
  if (!Number.isInteger(seconds) || seconds < LIFETIME.min || seconds > LIFETIME.max)
    throw new S3Error(400, 'ValidationError', 'DurationSeconds must be between 900 and 43200.')
  const policy = fields.get('Policy')
  if (policy !== null) parsePolicy(policy)
  return issueKeys(signer, policy, new Date(now.getTime() + seconds * 1000))
}
