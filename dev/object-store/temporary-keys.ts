import { randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { matchesWildcard } from '../../src/base/text.ts'
import { type Call, denied, S3Error } from './s3.ts'
import { type Credentials, hmac, parseQuery, type SignedRequest, same } from './signature.ts'

/** The signer of a request: the store's owner, or a holder of temporary keys with their policy. */
export interface Signer extends Credentials {
  /** True for the owner's lasting keys. Temporary ones cannot create others. */
  isOwner: boolean
  /** Null if everything is allowed. */
  policy: Policy | null
}

/** Prefix of a temporary key's identifier, as in AWS. */
const PREFIX = 'ASIA'

/**
 * Makes temporary keys. Nothing is stored: the session token holds policy and expiry with the owner's signature, and
 * the secret key is derived from the token, so the keys survive a restart of the store.
 * @param policy text of the session policy; null allows everything that the owner may do
 */
function issueKeys(owner: Credentials, policy: string | null, expires: Date) {
  const AccessKeyId = PREFIX + randomBytes(8).toString('hex').toUpperCase()
  const claims = { access_key: AccessKeyId, policy, expires: expires.toISOString() }
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
  const SessionToken = `${body}.${sign(owner, 'token', body)}`
  return { AccessKeyId, SecretAccessKey: sign(owner, 'secret', body), SessionToken, Expiration: claims.expires }
}

const sign = (owner: Credentials, purpose: string, body: string): string =>
  hmac(`${purpose}:${owner.secret_key}`, body).toString('base64url')

/**
 * Finds the claimed signing keys of a request. The caller verifies the signature with them. Errors: `S3Error` for a
 * token that is missing, invalid or expired. For an unknown key it returns the owner, whose identifier does not match.
 */
export function findSigner(request: SignedRequest, owner: Credentials, now: Date): Signer {
  const query = new Map(parseQuery(request.query))
  const token = query.get('X-Amz-Security-Token') ?? request.headers['x-amz-security-token']
  if (token === undefined) return { ...owner, isOwner: true, policy: null }
  const [, body = '', signature = ''] = /^([\w-]+)\.([\w-]+)$/.exec(token) ?? []
  const invalid = new S3Error(400, 'InvalidToken', 'The provided token is malformed or otherwise invalid.')
  if (!same(signature, sign(owner, 'token', body))) throw invalid
  const credential =
    query.get('X-Amz-Credential') ?? /Credential=([^,\s]+)/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const claims: { access_key: string; policy: string | null; expires: string } = JSON.parse(
    Buffer.from(body, 'base64url').toString('utf8'),
  )
  const { access_key, policy, expires } = claims
  if (credential.split('/')[0] !== access_key) throw invalid
  if (Date.parse(expires) <= now.getTime()) throw new S3Error(400, 'ExpiredToken', 'The provided token has expired.')
  const secret_key = sign(owner, 'secret', body)
  return { ...owner, access_key, secret_key, isOwner: false, policy: policy === null ? null : parsePolicy(policy) }
}

/** Shortest and longest lifetime in seconds, and the default. */
const LIFETIME = { min: 900, max: 43_200, default: 3_600 }

/**
 * Answers `AssumeRole` with temporary keys that the session policy limits. The role is ignored, because this store has
 * none: the keys come from the owner. Errors: `S3Error`.
 */
export function assumeRole(signer: Signer, fields: URLSearchParams, now: Date) {
  if (fields.get('Action') !== 'AssumeRole') throw new S3Error(400, 'InvalidAction', 'Only AssumeRole is known here.')
  if (!signer.isOwner) throw denied('Temporary keys cannot make further ones.')
  const seconds = Number(fields.get('DurationSeconds') ?? LIFETIME.default)
  if (!Number.isInteger(seconds) || seconds < LIFETIME.min || seconds > LIFETIME.max)
    throw new S3Error(400, 'ValidationError', 'DurationSeconds must be between 900 and 43200.')
  const policy = fields.get('Policy')
  if (policy !== null) parsePolicy(policy)
  return issueKeys(signer, policy, new Date(now.getTime() + seconds * 1000))
}

const texts = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((value) => [value].flat()),
)
const policySchema = v.pipe(
  v.string(),
  v.maxLength(2048),
  v.parseJson(),
  v.strictObject({
    Version: v.literal('2012-10-17'),
    Statement: v.array(
      v.strictObject({
        Effect: v.literal('Allow'),
        Action: texts,
        Resource: texts,
        Condition: v.optional(v.strictObject({ StringLike: v.strictObject({ 's3:prefix': texts }) })),
      }),
    ),
  }),
)
type Policy = v.InferOutput<typeof policySchema>['Statement']

/**
 * Reads a session policy in the form of the platform: permissions with a condition on `s3:prefix`. Anything else is
 * refused, because an unknown part could restrict a permission. Errors: `S3Error` `MalformedPolicyDocument`.
 */
function parsePolicy(text: string): Policy {
  const { success, output, issues } = v.safeParse(policySchema, text)
  if (success) return output.Statement
  throw new S3Error(400, 'MalformedPolicyDocument', `The policy cannot be used: ${v.summarize(issues)}.`)
}

/** True if a statement allows the action. `prefix` is that of a listing; undefined for a request that has none. */
const allows = (policy: Policy, action: string, path: string, prefix?: string): boolean =>
  policy.some(({ Action, Resource, Condition }) => {
    const prefixes = Condition?.StringLike['s3:prefix']
    return (
      Action.includes(action) &&
      Resource.some((pattern) => matchesWildcard(pattern, `arn:aws:s3:::${path}`)) &&
      (!prefixes || (prefix !== undefined && prefixes.some((pattern) => matchesWildcard(pattern, prefix))))
    )
  })

/** Checks that a policy allows a request. Errors: `S3Error` `AccessDenied`. */
export function assertAllowed(policy: Policy, { method, bucket, key, query }: Call): void {
  const isAllowed =
    key === ''
      ? allows(policy, method === 'PUT' ? 's3:CreateBucket' : 's3:ListBucket', bucket, query.get('prefix'))
      : allows(policy, objectAction(method, query), `${bucket}/${key}`)
  if (!isAllowed) throw denied()
}

/**
 * True if a signer with this policy may learn that an object is missing. As in S3 this needs the permission to list it;
 * other signers are denied, whether the object exists or not.
 */
export const mayLearnAbsence = (policy: Policy, { bucket, key }: Call): boolean =>
  allows(policy, 's3:ListBucket', bucket, key)

function objectAction(method: string, query: Call['query']): string {
  if (method === 'GET' || method === 'HEAD') return 's3:GetObject'
  if (method !== 'DELETE') return 's3:PutObject'
  return query.has('uploadId') ? 's3:AbortMultipartUpload' : 's3:DeleteObject'
}
