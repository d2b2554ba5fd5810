import { OutboundError, send, TRANSIENT_STATUSES } from '../base/http.ts'
import { parseJson } from '../base/json.ts'
import { type ChainLink, type ChainTools, credentialFault, parseCredentials, readNamedFile } from './credentials.ts'
import { assumeWithToken } from './sts.ts'

/** Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, for temporary keys, `AWS_SESSION_TOKEN`. */
export const fromVariables: ChainLink = async ({ aws }) => {
  const { access_key, secret_key, session_token } = aws
  if (access_key === '' && secret_key === '') return null
  if (secret_key === '') throw credentialFault('AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY')
  if (access_key === '') throw credentialFault('AWS_SECRET_ACCESS_KEY is set without AWS_ACCESS_KEY_ID')
  return { access_key, secret_key, session_token: session_token || undefined }
}

const CONTAINER_ORIGIN = 'http://169.254.170.2'
/** Loopback and link-local hosts: plain HTTP to them does not leave the machine or its link. */
const PLAIN_HOSTS = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/

/** Reads the credentials of the container's role, which its platform (ECS or EKS) serves over HTTP. */
export const fromContainer: ChainLink = async (tools) => {
  const url = containerAddress(tools)
  if (url === null) return null
  const token = await readContainerToken(tools)
  const headers: Record<string, string> = token === '' ? {} : { authorization: token }
  const request = { url, headers, timeoutMs: 2_000, retries: 2, retryStatuses: TRANSIENT_STATUSES }
  const response = await send(tools.fetch, request).catch((error: unknown) => {
    const reason = error instanceof OutboundError ? error.message : 'the request was refused'
    throw credentialFault(`the credentials of the container cannot be had, ${reason}`, error)
  })
  if (response.status !== 200)
    throw credentialFault(`the credentials of the container cannot be had (${response.status})`)
  const credentials = parseCredentials(parseJson(response.text()))
  if (!credentials) throw credentialFault('the answer for the container holds none')
  return credentials
}

function containerAddress({ aws }: ChainTools): string | null {
  const { container_relative_uri: path, container_full_uri: full } = aws
  if (path !== '') {
    if (!path.startsWith('/')) throw credentialFault('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must start with a slash')
    return `${CONTAINER_ORIGIN}${path}`
  }
  if (full === '') return null
  const url = URL.canParse(full) ? new URL(full) : null
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && PLAIN_HOSTS.test(url.hostname))) return url.href
  throw credentialFault('AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or http to this machine')
}

/** Reads the token for the request. A token file is read for each request, because the platform rotates it. */
async function readContainerToken(tools: ChainTools): Promise<string> {
  const { container_token, container_token_file } = tools.aws
  const what = 'the file that AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names'
  const token = container_token_file === '' ? container_token : await readNamedFile(tools, container_token_file, what)
  if (container_token_file !== '' && token === '') throw credentialFault(`${what} is missing or empty`)
  if (/[\r\n]/.test(token)) throw credentialFault('the authorization token of the container has more than one line')
  return token
}

/** Beginning of the last source's errors, which says that all others were tried. */
const NO_OTHER_SOURCE = 'neither key variables, web identity, shared files nor a container role'

/** Reads the role credentials from instance metadata (version 2 only). Throws without a role, as the last source. */
export const fromInstance: ChainLink = async (tools) => {
  if (tools.aws.metadata_disabled)
    throw credentialFault(`${NO_OTHER_SOURCE} is set up, and instance metadata is disabled`)
  const token = await requestMetadata(tools, 'api/token', { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' }, 'PUT')
  const headers = { 'x-aws-ec2-metadata-token': token }
  const [role = ''] = (await requestMetadata(tools, ROLES, headers)).split('\n')
  if (role.trim() === '') throw credentialFault(`${NO_OTHER_SOURCE} is set up, and this machine has no role`)
  const answer = await requestMetadata(tools, `${ROLES}${encodeURIComponent(role.trim())}`, headers)
  const credentials = parseCredentials(parseJson(answer))
  if (!credentials) throw credentialFault('the answer of instance metadata holds none')
  return credentials
}

const ROLES = 'meta-data/iam/security-credentials/'

async function requestMetadata(
  { aws, fetch }: ChainTools,
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<string> {
  const url = `${aws.metadata_endpoint}/latest/${path}`
  const request = { url, method, headers, timeoutMs: 1_000, retries: 1, retryStatuses: TRANSIENT_STATUSES }
  const response = await send(fetch, request).catch((error: unknown) => {
    const reason = error instanceof OutboundError ? error.message : 'the request was refused'
    throw credentialFault(`${NO_OTHER_SOURCE} is set up, and instance metadata does not answer (${reason})`, error)
  })
  if (response.status !== 200)
    throw credentialFault(`${NO_OTHER_SOURCE} is set up, and instance metadata answers ${response.status}`)
  return response.text()
}

/** Exchanges a cluster's service account token for credentials. The token file is read at each renewal. */
export const fromWebIdentity: ChainLink = async (tools) => {
  const { web_identity_token_file, role_arn, role_session_name } = tools.aws
  if (web_identity_token_file === '') return null
  if (role_arn === '') throw credentialFault('AWS_WEB_IDENTITY_TOKEN_FILE is set without AWS_ROLE_ARN')
  const what = 'the file that AWS_WEB_IDENTITY_TOKEN_FILE names'
  const token = await readNamedFile(tools, web_identity_token_file, what)
  if (token === '') throw credentialFault(`${what} is missing or empty`)
  return assumeWithToken(tools, { arn: role_arn, session_name: role_session_name }, token)
}
