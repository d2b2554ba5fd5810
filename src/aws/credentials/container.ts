import { OutboundError, send } from '../../http/outbound.ts'
import { parseJsonAnswer } from './answer.ts'
import { readNamedFile } from './read-named-file.ts'
import { type ChainLink, type ChainTools, credentialFault } from './types.ts'

const ORIGIN = 'http://169.254.170.2'
/** Where plain HTTP stays on the machine or its link. */
const PLAIN_HOSTS = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/

/** The role of the container, as its platform hands it out. */
export const fromContainer: ChainLink = async (tools) => {
  const url = addressOf(tools.aws)
  if (url === null) return null
  const token = await tokenOf(tools)
  const headers: Record<string, string> = token === '' ? {} : { authorization: token }
  const request = { url, headers, timeout_ms: 2_000, retries: 2, retry_statuses: [429, 500, 502, 503, 504] }
  const response = await send(tools.fetch, request).catch((error: unknown) => {
    const reason = error instanceof OutboundError ? error.message : 'the request was refused'
    throw credentialFault(`the credentials of the container cannot be had, ${reason}`, error)
  })
  if (response.status !== 200)
    throw credentialFault(`the credentials of the container cannot be had (${response.status})`)
  const found = parseJsonAnswer(response.text())
  if (!found) throw credentialFault('the answer for the container holds none')
  return found
}

function addressOf({ container_relative_uri: path, container_full_uri: full }: ChainTools['aws']): string | null {
  if (path !== '') {
    if (!path.startsWith('/')) throw credentialFault('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must start with a slash')
    return `${ORIGIN}${path}`
  }
  if (full === '') return null
  const url = URL.canParse(full) ? new URL(full) : null
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && PLAIN_HOSTS.test(url.hostname))) return url.href
  throw credentialFault('AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or http to this machine')
}

/** The file is read each time, for its content changes. */
async function tokenOf(tools: ChainTools): Promise<string> {
  const { container_token, container_token_file } = tools.aws
  const what = 'the file that AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names'
  const token = container_token_file === '' ? container_token : await readNamedFile(tools, container_token_file, what)
  if (container_token_file !== '' && token === '') throw credentialFault(`${what} is missing or empty`)
  if (/[\r\n]/.test(token)) throw credentialFault('the authorization token of the container has more than one line')
  return token
}
