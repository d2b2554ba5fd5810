import * as v from 'valibot'
import { baseUrl, flag, integer, text } from '../fields.ts'
import type { Source } from '../source.ts'

export type OidcConfig = ReturnType<typeof readOidc>

const DEFAULT_SCOPE = 'openid profile email'
const PLACEHOLDER = '{client_id}'

export const oidcSchema = v.object({
  /** If empty, authentication is disabled. */
  issuer_url: baseUrl(''),
  client_id: text(''),
  audience: text(''),
  scope: text(DEFAULT_SCOPE),
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

/** The section `admin`, which names the user whose token makes an administrator. */
export const adminSchema = v.object({ default_root_email: text('') })

export const readAdmin = (source: Source) => source.section('admin', adminSchema).values
