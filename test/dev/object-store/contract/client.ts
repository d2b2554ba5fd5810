import { AwsClient } from 'aws4fetch'

export interface StoreUnderTest {
  url: string
  access_key: string
  secret_key: string
  /** The one origin of web pages that may read. */
  origin: string
  /** Restarts the server on the same data and returns its address. */
  restart(): Promise<string>
  close(): Promise<void>
}

export interface Keys {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

export const BUCKET = 'contract'

export const clientOf = (keys: Keys, region = 'us-east-1') =>
  new AwsClient({ ...keys, service: 's3', region, retries: 0 })

export const timestamp = (at: Date): string => at.toISOString().replaceAll(/[:-]|\.\d{3}/g, '')

export const outcome = async (response: Response): Promise<[number, string]> => [
  response.status,
  /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1] ?? '',
]

/** Asks a store for temporary keys. */
export async function assumeRole(url: string, keys: Keys, fields: Record<string, string>) {
  const all = { Action: 'AssumeRole', Version: '2011-06-15', RoleSessionName: 'test', DurationSeconds: '900' }
  const answer = await clientOf(keys).fetch(`${url}/`, {
    method: 'POST',
    body: new URLSearchParams({ ...all, ...fields }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    aws: { service: 'sts' },
  })
  const text = await answer.text()
  const value = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? ''
  const [accessKeyId, secretAccessKey] = [value('AccessKeyId'), value('SecretAccessKey')]
  const issued = { accessKeyId, secretAccessKey, sessionToken: value('SessionToken') }
  return { status: answer.status, code: value('Code'), expires: value('Expiration'), keys: issued }
}

/** Requests to the tested store. Nothing of it may be used before the first hook has run. */
export type StoreClient = ReturnType<typeof createClient>

/** @param current returns the store once it runs */
export function createClient(current: () => StoreUnderTest) {
  let moved: string | null = null
  const url = () => moved ?? current().url
  const owner = (): Keys => ({ accessKeyId: current().access_key, secretAccessKey: current().secret_key })
  const call = (method: string, path: string, init: { body?: BodyInit; headers?: Record<string, string> } = {}) =>
    clientOf(owner()).fetch(`${url()}/${path}`, { method, ...init })
  return {
    owner,
    call,
    put: (key: string, body: BodyInit, headers: Record<string, string> = {}) =>
      call('PUT', `${BUCKET}/${key}`, { body, headers }),
    get: (key: string, headers: Record<string, string> = {}) => call('GET', `${BUCKET}/${key}`, { headers }),
    presign: async (key: string, seconds: number, at = new Date(), keys = owner()) => {
      const target = `${url()}/${BUCKET}/${key}?X-Amz-Expires=${seconds}`
      return (await clientOf(keys).sign(target, { aws: { signQuery: true, datetime: timestamp(at) } })).url
    },
    assume: (fields: Record<string, string>, keys = owner()) => assumeRole(url(), keys, fields),
    restart: async () => {
      moved = await current().restart()
    },
    get url() {
      return url()
    },
    get origin() {
      return current().origin
    },
  }
}
