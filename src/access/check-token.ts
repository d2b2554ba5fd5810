import { decodeJwt, decodeProtectedHeader } from 'jose'
import * as v from 'valibot'
import type { Config } from '../../config/types.ts'
import { type Fetch, OutboundError } from '../base/http.ts'
import { toIdentity } from './authenticate.ts'
import { createIssuerKeys, readDiscovery } from './issuer.ts'
import { checkContent, type TokenContent } from './token-checks.ts'
import { ALGORITHMS, assertReadable, describeReason, readSigned, Unauthorized } from './verify-token.ts'

/** One line of a report: a part of the token, whether it is accepted, and what would be. */
interface Line {
  name: string
  /** Undefined where the token has no such part. */
  value?: unknown
  /** Null for what is only told. */
  accepted: boolean | null
  text: string
}

/** What the core would do with a token, and why. It holds neither the token nor its signature. */
export interface TokenReport {
  accepted: boolean
  /** The reason that a caller would be told; null for a token that is accepted. */
  reason: string | null
  checks: Line[]
  user: Line[]
}

type Given = { config: Pick<Config, 'oidc' | 'admin'>; fetch: Fetch; now: () => Date }

/**
 * Checks a token as the core does, and goes on after the first refusal. Discovery document and keys are fetched.
 * @param given a token, with or without `Bearer ` before it
 */
export async function checkToken(given: string, { config, fetch, now }: Given): Promise<TokenReport> {
  const { oidc } = config
  const checks: Line[] = []
  const report = (user: Line[] = []): TokenReport => {
    const reason = checks.find(({ accepted }) => accepted === false)?.text.split('\n')[0] ?? null
    return { accepted: reason === null, reason, checks, user }
  }
  if (oidc.issuer_url === '') {
    checks.push(refused('sign-in', 'oidc.issuer_url is empty, so that no token is read'))
    return report()
  }
  const token = given.trim().replace(/^bearer\s+/i, '')
  const unreadable = reasonOf(() => assertReadable(token))
  if (unreadable !== null && unreadable !== WRONG_ALGORITHM) {
    checks.push(refused('form', `${unreadable}\n${hintFor(token)}`))
    return report()
  }
  const { alg, kid } = decodeProtectedHeader(token)
  checks.push(line('alg', alg, unreadable, ALGORITHMS.join(', ')), {
    name: 'kid',
    value: kid,
    accepted: null,
    text: 'the key of the set that has to have signed the token',
  })
  const keys = createIssuerKeys(oidc.issuer_url, fetch)
  const signed = unreadable === null ? await checkSignature(token, keys, { oidc, fetch, checks }) : null
  const content = signed ?? readUnverified(token, keys.ownersOf(kid))
  if (!content) {
    checks.push(refused('claims', 'token is malformed\nthe claims are no JSON object'))
    return report()
  }
  const nowS = now().getTime() / 1000
  for (const { name, value, expected, refusal } of checkContent(content, oidc, nowS))
    checks.push(line(name, value, refusal, expected))
  return report(describeUser(content.claims, config))
}

const WRONG_ALGORITHM = 'algorithm is not allowed'

const refused = (name: string, text: string): Line => ({ name, accepted: false, text })

const line = (name: string, value: unknown, refusal: string | null, expected: string): Line => ({
  ...{ name, value, accepted: refusal === null },
  text: refusal === null ? `accepted is ${expected}` : `${refusal}\naccepted is ${expected}`,
})

/** Returns the reason of a refusal; null if there is none. */
function reasonOf(check: () => void): string | null {
  try {
    check()
    return null
  } catch (error) {
    return error instanceof Unauthorized ? error.reason : describeReason(error)
  }
}

function hintFor(token: string): string {
  const parts = token.split('.').length
  if (/^[{[]/.test(token)) return 'this is a JSON document: put the token alone into the file, without quotes'
  if (parts === 5) return 'this is an encrypted token; the issuer must be told to sign it only'
  if (parts === 1) return 'this is no JWT: only its issuer can read it. Present the identity token, or have JWTs issued'
  return 'a JWT has three parts of letters, digits, - and _, joined by dots'
}

async function checkSignature(
  token: string,
  keys: ReturnType<typeof createIssuerKeys>,
  { oidc, fetch, checks }: { oidc: Config['oidc']; fetch: Fetch; checks: Line[] },
): Promise<TokenContent | null> {
  const at = `${oidc.issuer_url}/.well-known/openid-configuration`
  let address = ''
  try {
    const { jwks_uri, issuer, access_token_issuer } = await readDiscovery(oidc.issuer_url, fetch)
    address = jwks_uri
    const names = [issuer, access_token_issuer].filter((name) => name !== undefined)
    const text =
      names.length === 0 ? 'it names no issuer' : `it names as issuer ${names.join(', and of access tokens ')}`
    checks.push({ name: 'discovery', value: at, accepted: true, text })
  } catch (error) {
    checks.push({ ...refused('discovery', `${describeReason(error)}\n${faultOf(error)}`), value: at })
    return null
  }
  try {
    const content = await readSigned(token, keys)
    checks.push({ name: 'signature', accepted: true, text: `by a key of ${address}` })
    return content
  } catch (error) {
    const reason = error instanceof Unauthorized ? error.reason : describeReason(error)
    checks.push(refused('signature', `${reason}\nkeys of ${address}: ${faultOf(error)}`))
    return null
  }
}

/** Returns what went wrong, with its cause in the network. For the operator alone. */
function faultOf(error: unknown): string {
  if (v.isValiError(error)) return `the document is not valid: ${v.getDotPath(error.issues[0]) ?? 'it is no object'}`
  if (!(error instanceof Error)) return 'unknown'
  let cause: Error = error
  while (cause.cause instanceof Error) cause = cause.cause
  const detail = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
  return error instanceof OutboundError && cause !== error ? `${error.message} (${detail})` : error.message
}

/** Returns what a token says whose signature could not be checked; null when its claims are no object. */
function readUnverified(token: string, keyOwners: string[]): TokenContent | null {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token), keyOwners }
  } catch {
    return null
  }
}

function describeUser(claims: TokenContent['claims'], { oidc, admin }: Given['config']): Line[] {
  const root = admin.default_root_email
  const user = toIdentity({ ...claims, iss: String(claims.iss) }, root, oidc)
  const told = (name: string, value: unknown, text: string): Line => ({ name, value, accepted: null, text })
  const verified = `${oidc.email_verified_claim} (oidc.email_verified_claim) is ${shown(claims[oidc.email_verified_claim])}`
  const noEmail = user.email_withdrawn
    ? `none counts: ${verified}, and oidc.require_verified_email is ${oidc.require_verified_email}`
    : `none: there is no ${oidc.email_claim} (oidc.email_claim)`
  const roles = user.elevated
    ? 'devops and panel admin, by admin.default_root_email'
    : `those that the platform has stored; a new user is developer, without a panel role${root === '' ? '' : `. admin.default_root_email is not met: ${verified}`}`
  return [
    told(
      'user',
      claims[oidc.subject_claim],
      `stored under ${oidc.subject_claim} (oidc.subject_claim) at ${user.issuer}`,
    ),
    told(
      'e-mail',
      user.email ?? undefined,
      user.email === null
        ? `${noEmail}. The user is known as user-<number>, and gets no notifications`
        : `from ${user.email === claims[oidc.email_claim] ? `${oidc.email_claim} (oidc.email_claim)` : 'preferred_username'}; ${verified}`,
    ),
    told('name', user.display_name ?? undefined, user.display_name === null ? 'none' : 'from name'),
    told('roles', undefined, roles),
  ]
}

const TIMES = ['exp', 'nbf', 'iat']
const LONGEST = 300

/** Writes a report for people, one part of the token after another. */
export function writeTokenReport({ accepted, reason, checks, user }: TokenReport, now: Date): string {
  const write = ({ name, value, accepted: passed, text }: Line): string => {
    const mark = passed === null ? '' : passed ? 'ok' : 'refused'
    const at = TIMES.includes(name) && typeof value === 'number' ? ` ${inWords(value, now)}` : ''
    const [first, ...rest] = value === undefined ? text.split('\n') : [shown(value) + at, ...text.split('\n')]
    return [`${mark.padEnd(8)}${name.padEnd(12)} ${first}`, ...rest.map((more) => `${''.padEnd(21)}${more}`)].join('\n')
  }
  const verdict = accepted ? 'The token is accepted.' : `The token is refused: ${reason}`
  return `${[...checks, ...user].map(write).join('\n')}\n\n${verdict}\n`
}

/** Returns a time of a token with its distance: `(2026-01-01T00:00:00.000Z, 30 s ago)`. */
function inWords(seconds: number, now: Date): string {
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) return '(no date)'
  const distance = Math.round(seconds - now.getTime() / 1000)
  return `(${date.toISOString()}, ${distance < 0 ? `${-distance} s ago` : `in ${distance} s`})`
}

/** Returns a value as JSON in one line, shortened. What could move the text of a terminal is escaped. */
function shown(value: unknown): string {
  const text = (JSON.stringify(value) ?? 'missing').replace(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… (${text.length} characters)`
}
