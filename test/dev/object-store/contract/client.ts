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

export const PART_BYTES = 5 * 1024 * 1024
export const BUCKET = 'contract'

/** Requests to the tested store. Nothing of it may be used before the first hook has run. */
export type StoreClient = ReturnType<typeof createClient>

/** @param current returns the store once it runs */
export function createClient(current: () => StoreUnderTest) {
  let moved: string | null = null
  const clientOf = (keys?: Keys, region = 'us-east-1') =>
    new AwsClient({
      ...(keys ?? { accessKeyId: current().access_key, secretAccessKey: current().secret_key }),
      service: 's3',
      region,
      retries: 0,
    })
  const url = () => moved ?? current().url
  const call = (method: string, path: string, init: { body?: BodyInit; headers?: Record<string, string> } = {}) =>
    clientOf().fetch(`${url()}/${path}`, { method, ...init })
  return {
    clientOf,
    call,
    put: (key: string, body: BodyInit, headers: Record<string, string> = {}) =>
      call('PUT', `${BUCKET}/${key}`, { body, headers }),
    get: (key: string, headers: Record<string, string> = {}) => call('GET', `${BUCKET}/${key}`, { headers }),
    presign: async (key: string, seconds: number, at = new Date(), keys?: Keys) => {
      const target = `${url()}/${BUCKET}/${key}?X-Amz-Expires=${seconds}`
      const datetime = at.toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
      return (await clientOf(keys).sign(target, { aws: { signQuery: true, datetime } })).url
    },
    restart: async () => {
      moved = await current().restart()
    },
    get url() {
      return url()
    },
    get access_key() {
      return current().access_key
    },
    get secret_key() {
      return current().secret_key
    },
    get origin() {
      return current().origin
    },
  }
}

export const outcome = async (response: Response): Promise<[number, string]> => [
  response.status,
  /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1] ?? '',
]

export const encodeAll = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
