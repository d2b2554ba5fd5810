import { HttpResponse } from 'msw'
import { createLogger } from '../../../src/base/log.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import { load } from '../../config/support.ts'

type Environment = Record<string, string | undefined>
type Reply = (request: Request) => Response | Promise<Response>

/** Creates an S3 store without keys, configured by these variables and files (by path). */
export async function chainStore(env: Environment, files: Record<string, string | Error> = {}, now = () => new Date()) {
  const config = await load('storage: {provider: S3, region: eu-west-1}', env)
  const lines: Record<string, unknown>[] = []
  const log = createLogger({ write: (line) => lines.push(JSON.parse(line)) })
  const readFile = async (path: string) => {
    const text = files[path]
    if (text instanceof Error) throw text
    return text ?? null
  }
  const store = createObjectStore(config.storage, {
    fetch: (...args) => fetch(...args),
    log,
    readFile,
    now,
    backoffMs: 1,
  })
  return { store, lines }
}

/** Reads access key and session token from a presigned URL. */
export async function signedBy(store: { presign(key: string): Promise<string> }): Promise<string> {
  const url = new URL(await store.presign('k'))
  const [key] = (url.searchParams.get('X-Amz-Credential') ?? '').split('/')
  return [key, url.searchParams.get('X-Amz-Security-Token')].filter(Boolean).join(' ')
}

/** The rejection of a store that finds no credentials. */
export const noCredentials = (reason: string, status = 500) => ({
  status,
  message: `No credentials for the object store: ${reason}.`,
})

const LATER = '2099-01-01T00:00:00Z'

export const role = (name: string, expires = LATER) =>
  HttpResponse.json({
    AccessKeyId: `ASIA${name}`,
    SecretAccessKey: 'role-secret',
    Token: `${name}-token`,
    Expiration: expires,
  })

export const assumed = (action: string, name: string, expires = LATER) =>
  HttpResponse.xml(
    `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials>` +
      `<AccessKeyId>ASIA${name}</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>` +
      `<SessionToken>${name}-token</SessionToken>` +
      `<Expiration>${expires}</Expiration></Credentials></${action}Result></${action}Response>`,
  )

export const STS = 'https://sts.eu-west-1.amazonaws.com'
export const INSTANCE = 'http://169.254.169.254'
export const CONTAINER = 'http://169.254.170.2'

/** Makes instance metadata of version 2, which requires a token. */
export const instance =
  (name = 'INSTANCE', expires = LATER): Reply =>
  (request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/latest/api/token')
      return request.method === 'PUT' && request.headers.has('x-aws-ec2-metadata-token-ttl-seconds')
        ? HttpResponse.text('metadata-token')
        : new HttpResponse(null, { status: 400 })
    if (request.headers.get('x-aws-ec2-metadata-token') !== 'metadata-token')
      return new HttpResponse(null, { status: 401 })
    if (pathname.endsWith('/security-credentials/')) return HttpResponse.text('the-role\n')
    return pathname.endsWith('/security-credentials/the-role')
      ? role(name, expires)
      : new HttpResponse(null, { status: 404 })
  }
