import { isJsonObject } from '../../src/base/json.ts'
import { type Call, denied, S3Error, textsOf } from './s3.ts'

/** A request as policies see it. */
interface Access {
  /** Example: `s3:GetObject`. */
  action: string
  /** Example: `arn:aws:s3:::bucket/key`. */
  resource: string
  /** The prefix of a listing (`s3:prefix`); undefined for a request that has none. */
  prefix?: string
}

interface Statement {
  isAllow: boolean
  actions: string[]
  resources: string[]
  /** Patterns of `s3:prefix`, one of which must match for each condition. */
  prefixes: { patterns: string[]; hasWildcards: boolean }[]
}

export type Policy = readonly Statement[]

const MAX_CHARS = 2048
const FIELDS = ['Sid', 'Effect', 'Action', 'Resource', 'Condition']

/**
 * Reads a session policy: statements with `Effect`, `Action`, `Resource` and conditions on `s3:prefix`. Anything else
 * is refused, because an unknown part could restrict a permission. Errors: `S3Error` `MalformedPolicyDocument` and
 * `PackedPolicyTooLarge`.
 */
export function parsePolicy(text: string): Policy {
  if (text.length > MAX_CHARS) throw new S3Error(400, 'PackedPolicyTooLarge', 'The policy has too many characters.')
  const document = parseJson(text)
  if (!isJsonObject(document) || document.Version !== '2012-10-17')
    throw malformedPolicy('its version is not 2012-10-17')
  const statements = Array.isArray(document.Statement) ? document.Statement : [document.Statement]
  return statements.map(parseStatement)
}

/** True if some statement allows the request and none denies it. */
export function allows(policy: Policy, access: Access): boolean {
  const applying = policy.filter((statement) => applies(statement, access))
  return applying.length > 0 && applying.every(({ isAllow }) => isAllow)
}

function applies({ actions, resources, prefixes }: Statement, { action, resource, prefix }: Access): boolean {
  const matchesPrefix = prefixes.every(
    ({ patterns, hasWildcards }) =>
      prefix !== undefined &&
      patterns.some((pattern) => (hasWildcards ? matches(pattern, prefix) : pattern === prefix)),
  )
  return (
    matchesPrefix &&
    actions.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())) &&
    resources.some((pattern) => matches(pattern, resource))
  )
}

/** Compares with `*` for any characters and `?` for one, in time linear in the product of the lengths. */
function matches(pattern: string, text: string): boolean {
  let at = 0
  let star = -1
  let retry = 0
  let index = 0
  while (index < text.length) {
    if (pattern[at] === '*') {
      star = at++
      retry = index
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[index])) {
      at++
      index++
    } else if (star >= 0) {
      at = star + 1
      index = ++retry
    } else return false
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}

const malformedPolicy = (reason: string) =>
  new S3Error(400, 'MalformedPolicyDocument', `The policy cannot be used: ${reason}.`)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformedPolicy('it is no JSON')
  }
}

function parseStatement(value: unknown): Statement {
  if (!isJsonObject(value)) throw malformedPolicy('a statement is no object')
  const unknown = Object.keys(value).find((name) => !FIELDS.includes(name))
  if (unknown !== undefined) throw malformedPolicy(`a statement has the field ${unknown}, which is not known here`)
  if (value.Effect !== 'Allow' && value.Effect !== 'Deny') throw malformedPolicy('a statement has no effect')
  return {
    isAllow: value.Effect === 'Allow',
    actions: parseTexts(value.Action, 'Action'),
    resources: parseTexts(value.Resource, 'Resource'),
    prefixes: parseConditions(value.Condition),
  }
}

function parseTexts(value: unknown, field: string): string[] {
  const texts = Array.isArray(value) ? value : [value]
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string'))
    throw malformedPolicy(`${field} is neither a text nor a list of texts`)
  return texts
}

function parseConditions(value: unknown): Statement['prefixes'] {
  if (value === undefined) return []
  if (!isJsonObject(value)) throw malformedPolicy('a condition is no object')
  return Object.entries(value).map(([operator, keys]) => {
    const names = isJsonObject(keys) ? Object.keys(keys) : []
    if ((operator !== 'StringEquals' && operator !== 'StringLike') || names.join() !== 's3:prefix')
      throw malformedPolicy('a condition is neither StringEquals nor StringLike of s3:prefix')
    const patterns = parseTexts((keys as Record<string, unknown>)['s3:prefix'], 's3:prefix')
    return { patterns, hasWildcards: operator === 'StringLike' }
  })
}

const arn = (path: string) => `arn:aws:s3:::${path}`

/** Makes the access for listing a bucket below a prefix, or for a request to the bucket itself. */
const listing = (bucket: string, prefix?: string): Access => ({
  action: 's3:ListBucket',
  resource: arn(bucket),
  ...(prefix === undefined ? {} : { prefix }),
})

/** Checks that a policy allows all accesses of a request. Errors: `S3Error` `AccessDenied`. */
export function assertAllowed(policy: Policy, call: Call): void {
  if (!accessesOf(call).every((access) => allows(policy, access))) throw denied()
}

/**
 * True if a signer with this policy may learn that an object is missing. As in S3 this needs the permission to list it;
 * other signers are denied, whether the object exists or not.
 */
export const mayLearnAbsence = (policy: Policy, { bucket, key }: Call): boolean => allows(policy, listing(bucket, key))

function accessesOf(call: Call): Access[] {
  const { method, bucket, key, query } = call
  if (bucket === '') return [{ action: 's3:ListAllMyBuckets', resource: arn('*') }]
  if (key !== '') return [{ action: objectAction(method, query), resource: arn(`${bucket}/${key}`) }]
  if (method === 'HEAD') return [listing(bucket)]
  if (method === 'PUT') return [{ action: 's3:CreateBucket', resource: arn(bucket) }]
  if (method === 'DELETE') return [{ action: 's3:DeleteBucket', resource: arn(bucket) }]
  if (method === 'POST')
    return textsOf(call.body.toString('utf8'), 'Key').map((each) => ({
      action: 's3:DeleteObject',
      resource: arn(`${bucket}/${each}`),
    }))
  if (query.has('location')) return [{ action: 's3:GetBucketLocation', resource: arn(bucket) }]
  return [listing(bucket, query.get('prefix') ?? '')]
}

function objectAction(method: string, query: Call['query']): string {
  if (method === 'GET' || method === 'HEAD') return 's3:GetObject'
  if (method !== 'DELETE') return 's3:PutObject'
  return query.has('uploadId') ? 's3:AbortMultipartUpload' : 's3:DeleteObject'
}
