import { createHash, timingSafeEqual } from 'node:crypto'

/** An account of the host, by the kind of its token. */
export interface Account {
  /** Git has to sign in with this name; empty for any. */
  user: string
  token: string
  /** `bearer`: the interface takes the token as bearer alone; `only_bearer`: git does so too. */
  scheme?: 'bearer' | 'only_bearer'
  /** True for an app of GitHub: a bot without a person, whose permissions on a repository are all answered as missing. */
  app?: boolean
  /** Nobody may push with it; the host's words. */
  no_push?: string
  /** Paths below a repository of the interface that are refused, with the host's words. */
  lacks?: { path: RegExp; words: string }
  /** True from the moment on from which the host does not take the token. */
  expired?: boolean
}

/** Finds the account that signs in with this header; null for none. */
export function findAccount(accounts: readonly Account[], header: string | undefined, isApi: boolean): Account | null {
  const [scheme = '', value = ''] = (header ?? '').split(' ', 2)
  const isBearer = /^(bearer|token)$/i.test(scheme)
  if (!isBearer && !/^basic$/i.test(scheme)) return null
  const decoded = Buffer.from(value, 'base64').toString('utf8')
  const [user, token] = isBearer
    ? [null, value]
    : [decoded.slice(0, decoded.indexOf(':')), decoded.slice(decoded.indexOf(':') + 1)]
  const found = accounts.find((account) => same(token, account.token) && !account.expired)
  if (!found) return null
  if (isBearer) return isApi || found.scheme === 'only_bearer' || found.scheme === undefined ? found : null
  if (found.scheme === 'only_bearer' || (isApi && found.scheme === 'bearer')) return null
  return found.user === '' || found.user === user ? found : null
}

const digest = (text: string) => createHash('sha256').update(text).digest()
const same = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right))
