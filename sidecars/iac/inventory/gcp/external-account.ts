import * as v from 'valibot'
import { awsCredentials, awsRegion } from '../aws/client.ts'
import { ask, askShape } from '../http.ts'
import { readNamedText, serviceUrl } from '../inputs.ts'
import { asAccessToken, type ObtainToken, tokenAnswer } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import { impersonate, SCOPE, TOKEN_ADDRESS, type TokenContext } from './library.ts'

const Source = v.object({
  file: v.optional(v.string()),
  url: v.optional(v.string()),
  /** `aws1` for the identity of AWS; `url` is then an address of its metadata service. */
  environment_id: v.optional(v.string()),
  headers: v.optional(v.record(v.string(), v.string()), {}),
  format: v.optional(
    v.object({ type: v.optional(v.string(), 'text'), subject_token_field_name: v.optional(v.string()) }),
    {},
  ),
})

export const ExternalAccountFile = v.object({
  type: v.literal('external_account'),
  audience: v.string(),
  subject_token_type: v.string(),
  token_url: v.string(),
  service_account_impersonation_url: v.optional(v.string()),
  client_id: v.optional(v.string()),
  client_secret: v.optional(v.string()),
  workforce_pool_user_project: v.optional(v.string()),
  credential_source: Source,
  universe_domain: v.optional(v.string()),
})
type File = v.InferOutput<typeof ExternalAccountFile>

const AWS = 'aws1'
const SOURCE = 'Google Security Token Service'
const UNSUPPORTED =
  'the Google credentials take their subject token from a certificate or a program; ' +
  'this discovery reads it from a file or an address, or makes it for the identity of AWS'

/** Exchanges another issuer's token for one of Google (RFC 8693) or of an account. https://google.aip.dev/auth/4117 */
export function externalAccountToken({ request }: TokenContext, file: File): ObtainToken {
  const { audience, subject_token_type, client_id, client_secret, workforce_pool_user_project } = file
  const { file: path, url, environment_id } = file.credential_source
  if (path === undefined && url === undefined && environment_id !== AWS) throw new InventoryError(UNSUPPORTED)
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...(client_id ? { authorization: `Basic ${btoa(`${client_id}:${client_secret ?? ''}`)}` } : {}),
  }
  // The vendor's library would ignore the fetch and time limit of the service.
  const federated: ObtainToken = async () => {
    const subject_token = await (environment_id === AWS
      ? awsSubjectToken(request, file)
      : readSubjectToken(request, file.credential_source))
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      scope: SCOPE,
      audience,
      subject_token_type,
      subject_token,
      ...(workforce_pool_user_project && !client_id
        ? { options: JSON.stringify({ userProject: workforce_pool_user_project }) }
        : {}),
    }
    const body = new URLSearchParams(form).toString()
    const secrets = [subject_token, encodeURIComponent(subject_token)]
    const address = serviceUrl(file.token_url, TOKEN_ADDRESS)
    const question = { request, source: SOURCE, url: address, method: 'POST', headers, body, secrets }
    return asAccessToken(await askShape(tokenAnswer, question), request)
  }
  const target = file.service_account_impersonation_url
  return target ? impersonate(request, target, federated) : federated
}

async function readSubjectToken(
  request: InventoryRequest,
  { file, url, headers, format }: v.InferOutput<typeof Source>,
): Promise<string> {
  const text =
    file !== undefined
      ? await readNamedText(file, 'credential_source', request.env)
      : await fetchSubjectToken(request, url ?? '', headers)
  const token = format.type === 'json' ? fieldOf(text, format.subject_token_field_name ?? '') : text.trim()
  if (!token) throw new InventoryError(`${CREDENTIAL_SOURCE} holds no subject token`)
  return token
}

const CREDENTIAL_SOURCE = 'the credential_source of the Google credentials'

async function fetchSubjectToken(request: InventoryRequest, url: string, headers: Record<string, string>) {
  if (!URL.canParse(url)) throw new InventoryError(`${CREDENTIAL_SOURCE} is no address`)
  return (await ask({ request, source: CREDENTIAL_SOURCE, url, headers, secrets: Object.values(headers) })).text()
}

function fieldOf(text: string, name: string): string {
  try {
    const value: unknown = Reflect.get(Object(JSON.parse(text)), name)
    return typeof value === 'string' ? value : ''
  } catch {
    return ''
  }
}

/** Signs a request that proves an AWS identity to Google. Never asks an address in the credential file for keys. */
async function awsSubjectToken(
  request: InventoryRequest,
  file: { audience: string; subject_token_type: string; token_url: string },
): Promise<string> {
  const region = awsRegion(request)
  const { access_key, secret_key, session_token } = await awsCredentials(request, region)()
  const { AwsClient } = await import('google-auth-library')
  const client = new AwsClient({
    type: 'external_account',
    audience: file.audience,
    subject_token_type: file.subject_token_type,
    token_url: file.token_url,
    aws_security_credentials_supplier: {
      getAwsRegion: async () => region,
      getAwsSecurityCredentials: async () => ({
        accessKeyId: access_key,
        secretAccessKey: secret_key,
        ...(session_token ? { token: session_token } : {}),
      }),
    },
  })
  return client.retrieveSubjectToken()
}
