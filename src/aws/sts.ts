import { AwsV4Signer } from 'aws4fetch'
import { send, TRANSIENT_STATUSES } from '../base/http.ts'
import { type AwsCredentials, type ChainTools, credentialFault, parseCredentials } from './credentials.ts'

type Sts = Pick<ChainTools, 'fetch' | 'region' | 'now' | 'stsUrl'>

export interface Role {
  arn: string
  /** If empty, a name with the current time is used. */
  session_name: string
  external_id?: string
  /** JSON text of a session policy: the credentials allow what both the role and the policy allow. */
  policy?: string
  /** Lifetime of the credentials, 900 to 43200 s. The service's default is 3600. */
  duration_seconds?: number
}

/** Exchanges a token of an identity provider that the role trusts for credentials. Throws `CredentialError`. */
export function assumeWithToken(tools: Sts, role: Role, token: string): Promise<AwsCredentials> {
  return assume(tools, 'AssumeRoleWithWebIdentity', { ...roleFields(tools, role), WebIdentityToken: token })
}

/** Exchanges credentials that the role trusts for credentials of the role. Throws `CredentialError`. */
export function assumeWithKeys(tools: Sts, role: Role, keys: AwsCredentials): Promise<AwsCredentials> {
  return assume(tools, 'AssumeRole', roleFields(tools, role), keys)
}

const roleFields = (
  { now }: Sts,
  { arn, session_name, external_id, policy, duration_seconds }: Role,
): Record<string, string> => ({
  RoleArn: arn,
  RoleSessionName: session_name || `platform-${now().getTime()}`,
  ...(external_id ? { ExternalId: external_id } : {}),
  ...(policy ? { Policy: policy } : {}),
  ...(duration_seconds ? { DurationSeconds: String(duration_seconds) } : {}),
})

async function assume(
  tools: Sts,
  action: string,
  fields: Record<string, string>,
  keys?: AwsCredentials,
): Promise<AwsCredentials> {
  const url = tools.stsUrl ?? `https://sts.${tools.region}.${domainOf(tools.region)}/`
  const body = encodeForm({ Action: action, Version: '2011-06-15', ...fields })
  const plain = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
  const { region, now } = tools
  const headers = keys
    ? await signHeaders({ url, headers: plain, body, service: 'sts', region, now: now() }, keys)
    : plain
  const response = await send(tools.fetch, {
    url,
    method: 'POST',
    headers,
    body,
    timeoutMs: 5_000,
    retries: 2,
    retryStatuses: TRANSIENT_STATUSES,
  }).catch((error: unknown) => {
    throw credentialFault('the token service cannot be reached', error)
  })
  if (response.status !== 200) {
    const [, code] = /<Code>([A-Za-z0-9_.-]{1,64})<\/Code>/.exec(response.text()) ?? []
    const answer = [response.status, code].filter(Boolean).join(' ')
    throw credentialFault(`the token service refused ${action} (${answer})`)
  }
  const element = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(response.text())?.[1]?.trim()
  const credentials = parseCredentials({
    AccessKeyId: element('AccessKeyId'),
    SecretAccessKey: element('SecretAccessKey'),
    Token: element('SessionToken'),
    Expiration: element('Expiration'),
  })
  if (!credentials) throw credentialFault(`the token service answered ${action} without credentials`)
  return credentials
}

/**
 * Encodes form fields like the vendor's clients, with blanks and `*` percent-encoded. Emulators that re-encode the
 * fields to check the signature otherwise get a different text.
 */
const encodeForm = (fields: Record<string, string>) =>
  new URLSearchParams(fields).toString().replaceAll('+', '%20').replaceAll('*', '%2A').replaceAll('%7E', '~')

const DOMAINS: readonly (readonly [prefix: string, domain: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
]

/** Returns the domain of a region's services, for example `amazonaws.com.cn` for `cn-north-1`. */
export const domainOf = (region: string): string =>
  DOMAINS.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com'

/** Returns the headers of a POST request with its signature (version 4). */
export async function signHeaders(
  {
    now,
    ...request
  }: { url: string; headers: Record<string, string>; body: string; service: string; region: string; now: Date },
  keys: AwsCredentials,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    ...request,
    method: 'POST',
    datetime: now.toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
    accessKeyId: keys.access_key,
    secretAccessKey: keys.secret_key,
    sessionToken: keys.session_token,
  })
  return Object.fromEntries((await signer.sign()).headers)
}
