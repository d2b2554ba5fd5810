import { decodeOrKeep } from '../../../config/mask-url.ts'

export interface CacheServer {
  host: string
  port: number
}

/** Where a cache of the Redis protocol is, and how to sign in there. */
export interface CacheAddress {
  /** Servers, of which any one that answers is taken; for `sentinel` the sentinels. */
  hosts: CacheServer[]
  tls: boolean
  username?: string
  password?: string
  database: number
  /** The name of the primary that the sentinels watch, and their own credentials; absent without sentinels. */
  sentinel?: { primary: string; username?: string; password?: string }
}

/** `URL` knows neither several hosts nor a `%` that encodes nothing. */
const FORM =
  /^redis(?<tls>s?)(?<sentinel>-sentinel)?:\/\/(?:(?<user>[^/?#]*)@)?(?<hosts>[^/?#@]+)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/i
const HOST = /^(?:\[(?<ip6>[0-9a-f:.%]+)\]|(?<name>[^\s:[\]]+))(?::(?<port>\d{1,5}))?$/i

export const CACHE_SCHEMES =
  'redis://, rediss://, redis-sentinel://, rediss-sentinel://, https:// or http://, with a host after it'

/**
 * Reads `redis[s]://[user:password@]host[:port][,host…][/database]` or
 * `redis[s]-sentinel://[user:password@]host[:port][,host…]/primary[/database][?sentinel_password=…]`.
 * Returns null for another scheme. Throws when the rest does not fit; the text shows nothing of the address.
 */
export function parseCacheAddress(url: string): CacheAddress | null {
  if (!/^rediss?(-sentinel)?:/i.test(url)) return null
  const { tls = '', sentinel, user = '', hosts = '', path = '', query = '' } = FORM.exec(url.trim())?.groups ?? {}
  const segments = path.split('/').filter((segment) => segment !== '')
  const primary = sentinel && segments.shift()
  const [database = '0', ...more] = segments
  if (hosts === '' || !/^\d{1,9}$/.test(database) || more.length > 0) throw invalid()
  if (sentinel && !primary)
    throw new Error(
      'the cache URL must name the primary that the sentinels watch: redis-sentinel://<host>:<port>/<name>',
    )
  const parameters = new URLSearchParams(query)
  const [username, password] = splitCredentials(user)
  return {
    hosts: hosts.split(',').map((host) => parseHost(host.trim(), sentinel ? 26379 : 6379)),
    tls: tls !== '',
    username,
    password,
    database: Number(database),
    ...(primary && {
      sentinel: {
        primary: decodeOrKeep(primary),
        username: parameters.get('sentinel_username') ?? undefined,
        password: parameters.get('sentinel_password') ?? undefined,
      },
    }),
  }
}

const invalid = () => new Error('the cache URL must be redis://[<user>:<password>@]<host>[:<port>][/<database>]')

function parseHost(text: string, standardPort: number): CacheServer {
  const { ip6, name, port } = HOST.exec(text)?.groups ?? {}
  const host = ip6 ?? name
  if (host === undefined || Number(port) > 65_535) throw invalid()
  return { host, port: port === undefined ? standardPort : Number(port) }
}

function splitCredentials(user: string): [username?: string, password?: string] {
  const colon = user.indexOf(':')
  const [name, secret] = colon === -1 ? [user, ''] : [user.slice(0, colon), user.slice(colon + 1)]
  return [decodeOrKeep(name) || undefined, decodeOrKeep(secret) || undefined]
}
