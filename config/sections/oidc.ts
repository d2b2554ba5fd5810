import * as v from 'valibot'
import {
  baseUrl,
  choice,
  entryText,
  flag,
  integer,
  mappingError,
  nonEmpty,
  text,
  textList,
  textOrList,
} from '../fields.ts'
import type { Source } from '../source.ts'

export type OidcConfig = ReturnType<typeof readOidc>

const DEFAULT_SCOPE = 'openid profile email'
const PLACEHOLDER = '{client_id}'

const CLAIM_RULE = 'must be a name or a list of names'
/** A claim, by its exact name, or by the names that lead to it: names have dots and slashes in them. */
const claimPath = v.union([entryText, v.pipe(v.array(entryText), v.minLength(1, CLAIM_RULE))], CLAIM_RULE)

const claimValue = v.union([entryText, v.number(), v.boolean()], 'must be a string, a number or a boolean')

const requiredClaim = v.object(
  {
    claim: claimPath,
    /** Empty: any value. */
    values: v.optional(v.array(claimValue, 'must be a list'), () => []),
  },
  mappingError,
)

export type RequiredClaim = v.InferOutput<typeof requiredClaim>

export const oidcSchema = v.object({
  /** If empty, authentication is disabled. */
  issuer_url: baseUrl(''),
  client_id: text(''),
  audience: textOrList(''),
  /** The accepted values of `iss`, where the issuer's address is another one. */
  token_issuers: textList([]),
  /** The claim that names the client to which a token was issued. If empty, none is read. */
  client_claim: text(''),
  /** The accepted clients; if empty, `client_id`. */
  clients: textList([]),
  /** The required type in the header, for example `at+jwt`. If empty, any that tokens for calls have. */
  token_typ: text(''),
  /** Claims that every token needs, with the values of which it must have one. */
  required_claims: v.optional(v.array(requiredClaim, 'must be a list'), (): RequiredClaim[] => []),
  subject_claim: text('sub', nonEmpty),
  email_claim: text('email', nonEmpty),
  email_verified_claim: text('email_verified', nonEmpty),
  scope: text(DEFAULT_SCOPE),
  /** Which token of a sign-in the console presents. */
  console_token: choice('access', { access: 'access', identity: 'identity' }, ['access', 'identity']),
  clock_skew_seconds: integer(60, { min: 0 }),
  /** True if only an e-mail that the token calls verified counts. */
  require_verified_email: flag(false),
})

export function readOidc(source: Source) {
  const { values, failed } = source.section('oidc', oidcSchema)
  if (values.client_id === '' && !failed.has('client_id')) {
    if (values.issuer_url !== '')
      source.problem(
        'oidc.issuer_url is set but oidc.client_id is empty; ' +
          'set oidc.client_id (and optionally oidc.audience) in config.yaml.',
      )
    if (values.scope.includes(PLACEHOLDER))
      source.problem('oidc.scope references {client_id} but oidc.client_id is empty.')
  }
  if (values.token_issuers.some((issuer) => /[{}]/.test(issuer)))
    source.problem('oidc.token_issuers must name each issuer; there are no placeholders in them.')
  return { ...values, scope: effectiveScope(values) }
}

/**
 * Returns the scope with its placeholder replaced. Microsoft issues tokens for this API only to clients that request
 * the API's own scope, which is therefore added to the default scope.
 */
function effectiveScope({ issuer_url, client_id, scope }: v.InferOutput<typeof oidcSchema>): string {
  if (scope === DEFAULT_SCOPE && hostOf(issuer_url) === 'login.microsoftonline.com')
    return `${scope} api://${client_id}/.default`
  return scope.replaceAll(PLACEHOLDER, () => client_id)
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname : '')

/** The section `admin`: whose token makes an administrator, and who may unlock. */
export const adminSchema = v.object({
  default_root_email: text(''),
  unlock_by_another: choice('auto', { auto: 'auto', always: 'always', never: 'never' }, ['auto', 'always', 'never']),
})

export function readAdmin(source: Source, { issuer_url }: OidcConfig) {
  const { unlock_by_another: rule, ...values } = source.section('admin', adminSchema).values
  return {
    ...values,
    /** True if the owner of a session may not unlock it. */
    unlock_by_another: rule === 'always' || (rule === 'auto' && issuer_url !== ''),
  }
}

/** `host/path`, in which `*` stands for any text. */
const REPOSITORY = /^(?:\*|[^\s:/%]+(?:\/[^\s:%]*)?)$/
const repositoryPattern = v.pipe(
  v.string('must be a string'),
  v.trim(),
  v.toLowerCase(),
  v.check(
    (pattern) => REPOSITORY.test(pattern) && !pattern.endsWith('.git'),
    'must be a repository such as github.com/acme/*, without scheme, port and .git',
  ),
)

/** The section `access`: what operators bind together, whoever asks. */
export const accessSchema = v.object({
  /** The repositories in which each scope may be used; `*` stands for the scopes that are not listed. */
  scopes: v.optional(
    v.pipe(
      v.unknown(),
      v.check((value) => !Array.isArray(value), 'must be a mapping'),
      v.record(v.string(), v.array(repositoryPattern, 'must be a list'), 'must be a mapping'),
    ),
    (): Record<string, string[]> => ({}),
  ),
})

export function readAccess(source: Source) {
  const { scopes } = source.section('access', accessSchema).values
  const entries = Object.entries(scopes).map(([scope, repositories]) => [scope.trim().toLowerCase(), repositories])
  if (new Set(entries.map(([scope]) => scope)).size < entries.length)
    source.problem('access.scopes names a scope twice; letter case and blanks around it do not matter.')
  return { scopes: Object.fromEntries(entries) as typeof scopes }
}
