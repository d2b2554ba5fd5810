import * as v from 'valibot'
import type { ObtainToken } from '../tokens.ts'
import { type Granting, grant } from './grant.ts'

export const AuthorizedUserFile = v.object({
  type: v.literal('authorized_user'),
  client_id: v.string(),
  client_secret: v.string(),
  refresh_token: v.string(),
  token_uri: v.optional(v.string(), 'https://oauth2.googleapis.com/token'),
  universe_domain: v.optional(v.string()),
})

/** What `gcloud auth application-default login` leaves behind. */
export function authorizedUserToken(
  { request }: Granting,
  file: v.InferOutput<typeof AuthorizedUserFile>,
): ObtainToken {
  const { client_id, client_secret, refresh_token } = file
  return () =>
    grant({
      request,
      source: 'Google OAuth',
      url: file.token_uri,
      form: { grant_type: 'refresh_token', client_id, client_secret, refresh_token },
      secret_fields: ['client_secret', 'refresh_token'],
    })
}
