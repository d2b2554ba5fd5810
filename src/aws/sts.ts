import { type OutboundResponse, send, TRANSIENT_STATUSES } from '../base/http.ts'
import { type AwsCredentials, type ChainTools, credentialFault, parseCredentials } from './credentials.ts'
import { signHeaders } from './sign.ts'

type Sts = Pick<ChainTools, 'fetch' | 'region' | 'now' | 'stsUrl'>

export interface Role {
  arn: string
  /** An empty name is replaced by one with the present time. */
  session_name: string
  external_id?: string
  /** JSON text of a session policy: the credentials allow what both the role and it allow. */
  policy?: string
  /** Lifetime of the credentials, from 900 to 43200. The default of the service is 3600. */
  duration_seconds?: number
}

/** Exchanges a token of an identity provider that the role trusts for credentials. Errors: `CredentialError`. */
export function assumeWithToken(tools: Sts, role: Role, token: string): Promise<AwsCredentials> {
  return assume(tools, 'AssumeRoleWithWebIdentity', { ...roleFields(tools, role), WebIdentityToken: token })
}

/** Exchanges credentials that the role trusts for credentials of the role. Errors: `CredentialError`. */
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
    const answer = [response.status, errorCode(response)].filter(Boolean).join(' ')
    throw credentialFault(`the token service refused ${action} (${answer})`)
  }
  return parseXml(response) ?? failWithoutCredentials(action)
}

/**
 * Fields as the vendor's own clients encode them: blanks and `*` by their numbers. A server that reads the fields and
 * encodes them anew to check the signature, as emulators do, comes to the same text only so.
 */
const encodeForm = (fields: Record<string, string>) =>
  new URLSearchParams(fields).toString().replaceAll('+', '%20').replaceAll('*', '%2A').replaceAll('%7E', '~')

/** The `<Code>` element of the error document; empty when there is none. */
const errorCode = (response: OutboundResponse) =>
  /<Code>([A-Za-z0-9_.-]{1,64})<\/Code>/.exec(response.text())?.[1] ?? ''

const failWithoutCredentials = (action: string): never => {
  throw credentialFault(`the token service answered ${action} without credentials`)
}

function parseXml(response: OutboundResponse): AwsCredentials | null {
  const text = response.text()
  const element = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]?.trim()
  return parseCredentials({
    AccessKeyId: element('AccessKeyId'),
    SecretAccessKey: element('SecretAccessKey'),
    Token: element('SessionToken'),
    Expiration: element('Expiration'),
  })
}

const DOMAINS: readonly (readonly [prefix: string, domain: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
]

/** The domain of the services of a region, for example `amazonaws.com.cn` for `cn-north-1`. */
export const domainOf = (region: string): string =>
  DOMAINS.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com'
