import type { OidcConfig, RequiredClaim } from '../../config/types.ts'
import { wordsOf } from '../base/text.ts'

type Members = Readonly<Record<string, unknown>>

/** What a token says: its header, its claims, and the issuers to which its key is restricted (Entra). */
export interface TokenContent {
  header: Members
  claims: Members
  keyOwners: readonly string[]
}

/** The outcome of one check of a token. */
export interface Finding {
  /** The claim or the header parameter. */
  name: string
  value: unknown
  /** What is accepted, with the name of its setting, for operators. */
  expected: string
  /** Null if the token passes; otherwise a short text that clients may rely on. */
  refusal: string | null
}

/** Types of JWT that a caller may present. Others, such as logout tokens, are signed with the same keys. */
const CALL_TYPES = ['jwt', 'at+jwt']

/**
 * Checks what a token says, one claim after another, in the order in which a refusal is reported. The signature is
 * checked elsewhere.
 * @param nowS seconds since 1970
 */
export function* checkContent(content: TokenContent, oidc: OidcConfig, nowS: number): Generator<Finding> {
  yield* checkType(content, oidc)
  yield* checkIssuer(content, oidc)
  const { claims } = content
  const subject = oidc.subject_claim
  yield {
    name: subject,
    value: claims[subject],
    expected: 'a text, which names the user (oidc.subject_claim)',
    refusal: missing(claims, subject) ?? (isBlank(claims[subject]) ? `claim ${subject} is not valid` : null),
  }
  yield* checkAudience(claims, oidc)
  yield* checkTimes(claims, oidc.clock_skew_seconds, nowS)
  for (const required of oidc.required_claims) yield checkRequired(claims, required)
}

function* checkType({ header, claims }: TokenContent, { token_typ }: OidcConfig): Generator<Finding> {
  const typ = typeof header.typ === 'string' ? header.typ.toLowerCase().replace(/^application\//, '') : header.typ
  const accepted: unknown[] = token_typ === '' ? [undefined, ...CALL_TYPES] : [token_typ.toLowerCase()]
  yield {
    name: 'typ',
    value: header.typ,
    expected: token_typ === '' ? 'none, JWT or at+jwt' : `${token_typ} (oidc.token_typ)`,
    refusal: accepted.includes(typ) ? null : 'token type is not accepted',
  }
  if (claims.events !== undefined)
    yield {
      name: 'events',
      value: claims.events,
      expected: 'none, because it marks logout tokens and other messages',
      refusal: 'token type is not accepted',
    }
}

function* checkIssuer({ claims, keyOwners }: TokenContent, oidc: OidcConfig): Generator<Finding> {
  const named = oidc.token_issuers.length > 0
  const issuers = (named ? oidc.token_issuers : [oidc.issuer_url]).map(withoutSlash)
  const isAccepted = typeof claims.iss === 'string' && issuers.includes(withoutSlash(claims.iss))
  yield {
    name: 'iss',
    value: claims.iss,
    expected: `${oneOf(issuers)} (oidc.${named ? 'token_issuers' : 'issuer_url'}), also with a slash at its end`,
    refusal: missing(claims, 'iss') ?? (isAccepted ? null : 'issuer is not accepted'),
  }
  for (const owner of keyOwners)
    yield {
      name: 'issuer of the key',
      value: owner,
      expected: 'the issuer of the token, or its directory',
      refusal: ownsToken(owner, claims) ? null : 'signing key is of another issuer',
    }
}

/**
 * True if a key that its set restricts to an issuer may sign the token. Entra publishes keys of one directory beside
 * those of all (`{tenantid}`), and documents that each has to be held to its own.
 */
const ownsToken = (owner: string, { iss, tid }: Members): boolean =>
  owner.includes('{tenantid}') ||
  (typeof iss === 'string' && withoutSlash(owner) === withoutSlash(iss)) ||
  (typeof tid === 'string' && tid !== '' && owner.split('/').includes(tid))

function* checkAudience(claims: Members, oidc: OidcConfig): Generator<Finding> {
  const { client_id, client_claim: client } = oidc
  if (client !== '') {
    const clients = oidc.clients.length > 0 ? oidc.clients : [client_id]
    yield {
      name: client,
      value: claims[client],
      expected: `${oneOf(clients)} (oidc.client_claim, oidc.${oidc.clients.length > 0 ? 'clients' : 'client_id'})`,
      refusal: missing(claims, client) ?? (isOneOf(clients, claims[client]) ? null : 'client is not accepted'),
    }
  }
  const chosen = [oidc.audience].flat().filter((name) => name !== '')
  const audiences = chosen.length > 0 ? chosen : [client_id, `api://${client_id}`]
  const source = chosen.length > 0 ? 'oidc.audience' : 'oidc.client_id'
  const given = [claims.aud].flat()
  const isUnneeded = client !== '' && claims.aud === undefined
  yield {
    name: 'aud',
    value: claims.aud,
    expected: `${oneOf(audiences)} (${source})${client === '' ? '' : ', or none (oidc.client_claim)'}`,
    refusal: isUnneeded
      ? null
      : (missing(claims, 'aud') ??
        (given.some((name) => isOneOf(audiences, name)) ? null : 'audience is not accepted')),
  }
}

function* checkTimes(claims: Members, skewS: number, nowS: number): Generator<Finding> {
  const isTime = (name: string) => typeof claims[name] === 'number' && Number.isFinite(claims[name])
  const time = (name: string) => Number(claims[name])
  const check = (name: string, expected: string, isWrong: (seconds: number) => boolean, wrong: string): Finding => {
    const isLeftOut = claims[name] === undefined && name !== 'exp'
    const invalid = isTime(name) ? null : `claim ${name} is not valid`
    const refusal = missing(claims, name) ?? invalid ?? (isWrong(time(name)) ? wrong : null)
    return { name, value: claims[name], expected, refusal: isLeftOut ? null : refusal }
  }
  const skew = `${skewS} s of difference allowed, oidc.clock_skew_seconds`
  yield check('nbf', `none, or not after now (${skew})`, (at) => at > nowS + skewS, 'token is not yet valid')
  yield check('exp', `after now (${skew})`, (at) => at <= nowS - skewS, 'token has expired')
  yield check('iat', `none, or not after now (${skew})`, (at) => at > nowS + skewS, 'token was issued in the future')
}

function checkRequired(claims: Members, { claim, values }: RequiredClaim): Finding {
  const path = [claim].flat()
  const name = path.join('.')
  const value = path.reduce<unknown>((inner, key) => ownMember(inner, key), claims)
  const held = valuesOf(path.at(-1) ?? '', value)
  const isHeld = values.length === 0 ? held.length > 0 : held.some((one) => values.some((wanted) => wanted === one))
  const absent = isLeftOut(claims, path[0] ?? '')
    ? `claim ${name} is left out of the token`
    : `claim ${name} is missing`
  const wrong = value === undefined ? absent : `claim ${name} is not accepted`
  return {
    name,
    value,
    expected: `${values.length === 0 ? 'any value' : oneOf(values)} (oidc.required_claims)`,
    refusal: isHeld ? null : wrong,
  }
}

/**
 * Returns the values that a claim holds: of a list its items, of an object its names (roles of Zitadel), of a text that
 * is a scope its words.
 */
function valuesOf(name: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  if (typeof value === 'object' && value !== null) return Object.keys(value)
  if (typeof value === 'string' && ['scope', 'scp'].includes(name)) return wordsOf(value)
  return value === undefined || value === null || value === '' ? [] : [value]
}

/**
 * True if the issuer says that the user has the claim and that it is not in the token. Entra does so for users with
 * more than 200 groups. They are refused: who is in which group cannot be told.
 */
const isLeftOut = (claims: Members, name: string): boolean =>
  ownMember(claims._claim_names, name) !== undefined ||
  (name === 'groups' && (claims.hasgroups === true || claims.hasgroups === 'true'))

const ownMember = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined

const missing = (claims: Members, name: string): string | null =>
  Object.hasOwn(claims, name) ? null : `claim ${name} is missing`

const isBlank = (value: unknown): boolean => typeof value !== 'string' || value.trim() === ''

const isOneOf = (accepted: readonly string[], value: unknown): boolean =>
  typeof value === 'string' && accepted.includes(value)

const withoutSlash = (issuer: string): string => issuer.replace(/\/$/, '')

const oneOf = (values: readonly unknown[]): string => values.map(String).join(' or ')
