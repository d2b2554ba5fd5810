import { lookup } from 'node:dns/promises'
import type { HostResolver } from '../repository/allowed-addresses.ts'

/** Looks a host up as the operating system does, `/etc/hosts` included. All addresses, any family. */
export const resolveHost: HostResolver = async (host) => {
  const found = await lookup(host, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}
