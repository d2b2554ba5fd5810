import { parseAddress } from '../../config/address-ranges.ts'

/**
 * True for `localhost`, names that end in `.localhost`, IP addresses, and the listed names. While sign-in is off no
 * other name is served: a page of an attacker's name, which resolves to this machine, would be answered as the local
 * developer. Letter case and a dot at the end do not matter.
 * @param hostname as `URL.hostname`
 * @param allowed `http.allowed_hosts`
 */
export function isKnownHost(hostname: string, allowed: readonly string[]): boolean {
  const host = hostname.replace(/\.$/, '')
  if (/^(.+\.)?localhost$/.test(host) || allowed.some((name) => name.toLowerCase() === host)) return true
  return parseAddress(host.replace(/^\[|\]$/g, '')) !== null
}
