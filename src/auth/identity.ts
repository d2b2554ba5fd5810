import type { JWTPayload } from 'jose'
import type { Identity } from '../users/resolve-user.ts'

/** The fixed identity while authentication is disabled. Always devops and panel admin. */
export const LOCAL_DEVELOPER: Identity = {
  issuer: 'urn:platform:dev',
  subject: 'dev',
  email: 'dev@platform.local',
  display_name: 'Local Developer',
  elevated: true,
}

/**
 * Who a verified token stands for. Both spellings of the issuer are one user.
 * @param root_email `admin.default_root_email`; blank elevates nobody
 */
export const identityOf = (claims: JWTPayload & { iss: string; sub: string }, root_email: string): Identity => ({
  issuer: claims.iss.replace(/\/+$/, ''),
  subject: claims.sub,
  email: text(claims.email) ?? text(claims.preferred_username),
  display_name: text(claims.name),
  elevated: isRoot(claims, root_email),
})

/** Only the provider's own `email` counts, and only with a verification that is literally true. */
function isRoot(claims: JWTPayload, root_email: string): boolean {
  const root = root_email.trim().toLowerCase()
  return root !== '' && claims.email_verified === true && text(claims.email)?.trim().toLowerCase() === root
}

const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : null)
