import { OutboundError, send } from '../../http/outbound.ts'
import { parseJsonAnswer } from './answer.ts'
import { type ChainLink, type ChainTools, credentialFault } from './types.ts'

const NOWHERE = 'neither key variables, web identity, shared files nor a container role'

/** The role of the machine (instance metadata, version 2 only). The last place, so having none is an error. */
export const fromInstance: ChainLink = async (tools) => {
  if (tools.aws.metadata_disabled) throw credentialFault(`${NOWHERE} is set up, and instance metadata is disabled`)
  const token = await ask(tools, 'api/token', { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' }, 'PUT')
  const headers = { 'x-aws-ec2-metadata-token': token }
  const [role = ''] = (await ask(tools, ROLES, headers)).split('\n')
  if (role.trim() === '') throw credentialFault(`${NOWHERE} is set up, and this machine has no role`)
  const found = parseJsonAnswer(await ask(tools, `${ROLES}${encodeURIComponent(role.trim())}`, headers))
  if (!found) throw credentialFault('the answer of instance metadata holds none')
  return found
}

const ROLES = 'meta-data/iam/security-credentials/'

async function ask(
  { aws, fetch }: ChainTools,
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<string> {
  const url = `${aws.metadata_endpoint}/latest/${path}`
  const request = { url, method, headers, timeout_ms: 1_000, retries: 1, retry_statuses: [429, 500, 502, 503, 504] }
  const response = await send(fetch, request).catch((error: unknown) => {
    const reason = error instanceof OutboundError ? error.message : 'the request was refused'
    throw credentialFault(`${NOWHERE} is set up, and instance metadata does not answer (${reason})`, error)
  })
  if (response.status !== 200)
    throw credentialFault(`${NOWHERE} is set up, and instance metadata answers ${response.status}`)
  return response.text()
}
