import * as v from 'valibot'
import type { ObtainToken } from '../tokens.ts'
import { obtainByLibrary } from './library.ts'
import type { TokenContext } from './token-exchange.ts'

export const AuthorizedUserFile = v.object({
  type: v.literal('authorized_user'),
  client_id: v.string(),
  client_secret: v.string(),
  refresh_token: v.string(),
  token_uri: v.optional(v.string(), 'https://oauth2.googleapis.com/token'),
})

const URL_NAME = 'the token address of the Google credentials'

/** What `gcloud auth application-default login` leaves behind. */
export function authorizedUserToken(
  { request }: TokenContext,
  { client_id, client_secret, refresh_token, token_uri }: v.InferOutput<typeof AuthorizedUserFile>,
): ObtainToken {
  return obtainByLibrary(
    { request, source: 'Google OAuth', url: token_uri, urlName: URL_NAME, secrets: [client_secret, refresh_token] },
    ({ UserRefreshClient }, transporterOptions) =>
      new UserRefreshClient({
        clientId: client_id,
        clientSecret: client_secret,
        refreshToken: refresh_token,
        transporterOptions,
      }),
  )
}

export const WorkforceUserFile = v.object({
  type: v.literal('external_account_authorized_user'),
  audience: v.optional(v.string(), ''),
  client_id: v.string(),
  client_secret: v.string(),
  refresh_token: v.string(),
  token_url: v.optional(v.string(), 'https://sts.googleapis.com/v1/oauthtoken'),
  token_info_url: v.optional(v.string(), ''),
})

/** The same for a person of a workforce pool, whom another issuer has signed in. */
export function workforceUserToken(
  { request }: TokenContext,
  file: v.InferOutput<typeof WorkforceUserFile>,
): ObtainToken {
  return obtainByLibrary(
    {
      request,
      source: 'Google Security Token Service',
      url: file.token_url,
      urlName: URL_NAME,
      secrets: [file.client_secret, file.refresh_token],
    },
    ({ ExternalAccountAuthorizedUserClient }, transporterOptions) =>
      new ExternalAccountAuthorizedUserClient({ ...file, transporterOptions }),
  )
}
