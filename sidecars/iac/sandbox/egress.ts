import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { resolveHost } from '../../../src/runtime/fetch.ts'

/** One entry of `IAC_EGRESS_ALLOW`. A name is resolved when the rules are built. */
export interface EgressEntry {
  /** An address, a network in CIDR form, or the name of a host. */
  target: string
  /** Null allows every port. */
  port: number | null
}

const ENTRY =
  /^(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+(?:\/\d{1,3})?)|([0-9a-f:.]*:[0-9a-f:.]*(?:\/\d{1,3})?))(?::(\d{1,5}))?$/i
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/i

/** Parses `host`, `host:port`, `10.0.0.0/8`, `10.0.0.7:9000` or `[fd00::7]:9000`; returns a text for a wrong one. */
export function parseEgressEntry(text: string): EgressEntry | string {
  const [, bracketed, plain, bare, portText] = ENTRY.exec(text) ?? []
  const target = (bracketed ?? bare ?? plain ?? '').toLowerCase()
  const port = portText === undefined ? null : Number(portText)
  if (target === '' || (port !== null && (port < 1 || port > 65_535)))
    return 'is no address, network or host with an optional port'
  const [host = '', length] = target.split('/')
  const isAddress = ipaddr.isValid(host)
  if (length !== undefined && (!isAddress || Number(length) > (host.includes(':') ? 128 : 32)))
    return 'is no network in CIDR form'
  if (!isAddress && !HOST_NAME.test(host)) return 'is no name of a host'
  if (isLoopback(target) && port === null) return 'is on the loopback of this machine and needs a port'
  return { target, port }
}

/** Reports whether a target is the machine itself. */
export function isLoopback(target: string): boolean {
  const [host = ''] = target.replace(/\.$/, '').split('/')
  if (host === 'localhost' || host.endsWith('.localhost')) return true
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback'
}

/** Returns the proxies of an environment as entries, because an engine that uses them must reach them. */
export function proxyEntries(env: Readonly<Record<string, string | undefined>>): EgressEntry[] {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
  return names.flatMap((name) => {
    const value = env[name]?.trim() ?? ''
    const url = value === '' ? null : URL.parse(value.includes('://') ? value : `http://${value}`)
    if (url === null || url.hostname === '') return []
    const usual = { 'http:': 80, 'https:': 443 }[url.protocol] ?? 1080
    const port = url.port === '' ? usual : Number(url.port)
    return [{ target: url.hostname.replace(/^\[|\]$/g, ''), port }]
  })
}

/** Returns the hosts of a list in the form of `NO_PROXY`. Loopback needs a port and is left out. */
export const hostEntries = (list: string): EgressEntry[] =>
  list.split(',').flatMap((host) => {
    const entry = parseEgressEntry(host.trim())
    return typeof entry === 'string' ? [] : [entry]
  })

/** Networks without public addresses, and IPv6 addresses that embed such an IPv4 address. */
const CLOSED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
]

/** The address at which pasta resolves names for the engine, by the machine's own resolver. */
export const RESOLVER = '169.254.53.53'

/** Returns the rules that close non-public networks and this machine. They precede the routing table. */
export const closedRules = (own: readonly string[] = ownNetworks()): string[] =>
  [...CLOSED, ...own].map((network) => `to ${network} prohibit priority 100`)

/** Returns the rules that come first: the resolver and the allowed entries without loopback. Errors: name look-ups. */
export async function allowedRules(
  entries: readonly EgressEntry[],
  resolve: (name: string) => Promise<string[]> = resolveHost,
): Promise<string[]> {
  const rules = ['udp', 'tcp'].map((protocol) => allow(RESOLVER, 53, protocol))
  for (const { target, port } of entries) {
    if (isLoopback(target)) continue
    const addresses = isName(target) ? await resolve(target) : [target]
    for (const address of addresses)
      for (const protocol of port === null ? [null] : ['tcp', 'udp']) rules.push(allow(address, port, protocol))
  }
  return [...new Set(rules)]
}

/** Reports whether the target of an entry has to be resolved. */
export const isName = (target: string): boolean => !ipaddr.isValid(target.split('/', 1)[0] ?? '')

const allow = (target: string, port: number | null, protocol: string | null): string =>
  `to ${target}${port === null ? '' : ` ipproto ${protocol} dport ${port}`} lookup main priority 50`

/** Returns the addresses of this machine and their networks: its neighbours are as private as itself. */
export function ownNetworks(interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces()): string[] {
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? [])
  const networks = all.flatMap(({ cidr, internal }) => {
    if (internal || cidr === null) return []
    const [address = '', length = ''] = cidr.split('/')
    if (!ipaddr.isValid(address)) return []
    const network = address.includes(':')
      ? ipaddr.IPv6.networkAddressFromCIDR(`${address}/${length}`)
      : ipaddr.IPv4.networkAddressFromCIDR(cidr)
    // A machine in a network of nearly the whole internet has no neighbours worth closing.
    return Number(length) < 8 ? [] : [`${network.toString()}/${length}`]
  })
  return [...new Set(networks)]
}
