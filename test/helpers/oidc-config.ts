import * as v from 'valibot'
import { oidcSchema } from '../../config/sections/oidc.ts'
import type { OidcConfig } from '../../config/types.ts'

/** Returns the section `oidc` of client `core` at an issuer, with the defaults for what is not given. */
export const oidcConfig = (changes: Partial<OidcConfig> = {}): OidcConfig => ({
  ...v.parse(oidcSchema, {}),
  issuer_url: 'https://issuer.example.org',
  client_id: 'core',
  ...changes,
})
