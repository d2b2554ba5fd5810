import { joinNames } from '../base/text.ts'
import type { Cloud, Rule, Subject } from './rule.ts'

type Protocol = 'tcp' | 'udp' | 'all' | 'other'

/** A public opening: audience, protocol and ports. */
export interface Opening {
  /** Words such as `all IPv4 addresses`. */
  audience: string
  protocol: Protocol
  from: number
  to: number
}

/** Creates the rules about access from the internet for one cloud from a function that finds public openings. */
export function networkRules(
  cloud: Cloud,
  types: readonly string[],
  openings: (subject: Subject) => Opening[],
): Rule[] {
  return OPENING_RULES.map(({ name, describe, ...texts }) => ({
    id: `${cloud}.network.${name}`,
    ...texts,
    types,
    check: (subject) =>
      openings(subject)
        .map(describe)
        .filter((message) => message !== null),
  }))
}

/** A rule about openings, independent of cloud and types. */
interface OpeningRule extends Pick<Rule, 'title' | 'reason' | 'fix' | 'severity'> {
  /** Last part of the id. */
  name: string
  /** Returns the message about an opening; null when there is none. */
  describe(opening: Opening): string | null
}

const NAME_NETWORKS = 'Name the networks that need it, or put a bastion, a VPN or a private endpoint in between.'

const OPENING_RULES: readonly OpeningRule[] = [
  {
    name: 'open-all-ports',
    title: 'All ports open to the internet',
    reason: 'Every service that listens now or later can be reached and attacked by anyone.',
    fix: 'Open only the ports the service needs, and only to the networks that use them.',
    severity: 'critical',
    describe: (opening) => {
      if (!isEveryPort(opening)) return null
      return `Every port is open to ${opening.audience}${opening.protocol === 'all' ? '' : ` (${opening.protocol})`}.`
    },
  },
  {
    name: 'open-admin-port',
    title: 'Administration port open to the internet',
    reason:
      'Ports of remote administration are scanned and attacked within minutes; ' +
      'one weak login gives the machine away.',
    fix: NAME_NETWORKS,
    severity: 'error',
    describe: (opening) => describeServices('Administration', opening, ADMIN),
  },
  {
    name: 'open-database-port',
    title: 'Database port open to the internet',
    reason: 'A database that anyone can reach is one weak password or one bug away from losing its data.',
    fix: NAME_NETWORKS,
    severity: 'error',
    describe: (opening) => describeServices('A database port', opening, DATABASE),
  },
  {
    name: 'open-other-port',
    title: 'Another port open to the internet',
    reason: 'Apart from the web ports 80 and 443 a public port should be a decision, not an accident.',
    fix: 'Check that the service is meant for everyone; otherwise name the networks that need it.',
    severity: 'info',
    describe: (opening) => {
      const { audience, protocol, from, to } = opening
      if (isEveryPort(opening) || (protocol !== 'tcp' && protocol !== 'udp') || (from === to && WEB.has(from)))
        return null
      if ([ADMIN, DATABASE].some((services) => servicesIn(opening, services).length > 0)) return null
      return `${protocol} ${from === to ? `port ${from}` : `ports ${from} to ${to}`} open to ${audience}.`
    },
  },
]

/** Returns the messages about an opening that the rules grade as more than an information. */
export const describeOpening = (opening: Opening): string[] =>
  OPENING_RULES.filter(({ severity }) => severity !== 'info')
    .map(({ describe }) => describe(opening))
    .filter((message) => message !== null)

type Services = Record<'tcp' | 'udp', Record<string, readonly number[]>>

/** Ports of administration and file sharing services. */
const ADMIN: Services = {
  tcp: {
    FTP: [20, 21],
    SSH: [22],
    Telnet: [23],
    RPC: [135],
    NetBIOS: [139],
    SMB: [445],
    NFS: [2049],
    Docker: [2375, 2376],
    etcd: [2379, 2380],
    RDP: [3389],
    VNC: [5900, 5901],
    WinRM: [5985, 5986],
    kubelet: [10250],
  },
  udp: { TFTP: [69], SNMP: [161], NFS: [2049], RDP: [3389] },
}
const DATABASE: Services = {
  tcp: {
    'SQL Server': [1433, 1434],
    Oracle: [1521, 1522, 2483, 2484],
    MySQL: [3306, 33060],
    PostgreSQL: [5432],
    Redshift: [5439],
    CouchDB: [5984],
    Redis: [6379, 6380],
    Neo4j: [7687],
    InfluxDB: [8086],
    Cassandra: [9042, 9160],
    Elasticsearch: [9200, 9300],
    Memcached: [11211],
    CockroachDB: [26257],
    MongoDB: [27017, 27018, 27019],
    Db2: [50000],
  },
  udp: { 'SQL Server': [1434], Memcached: [11211] },
}
const WEB = new Set([80, 443])

/** Reports whether an opening counts as all ports: a range of at least 65,000 leaves out nothing important. */
const isEveryPort = ({ protocol, from, to }: Opening): boolean =>
  protocol === 'all' || (protocol !== 'other' && to - from >= 65_000)

/** Returns the ports of services in an opening, for example `22 (SSH)`. */
function servicesIn({ protocol, from, to }: Opening, services: Services): string[] {
  if (protocol !== 'tcp' && protocol !== 'udp') return []
  return Object.entries(services[protocol])
    .flatMap(([name, ports]) => ports.map((port) => ({ name, port })))
    .filter(({ port }) => port >= from && port <= to)
    .sort((a, b) => a.port - b.port)
    .map(({ name, port }) => `${port} (${name})`)
}

function describeServices(lead: string, opening: Opening, services: Services): string | null {
  const ports = isEveryPort(opening) ? [] : servicesIn(opening, services)
  if (ports.length === 0) return null
  return `${lead} is open to ${opening.audience}: ${opening.protocol} ${joinNames(ports, 5)}.`
}

export const EVERY_PORT = { from: 0, to: 65_535 }

/** Reads a protocol by name or number. */
export function protocolOf(text: string | null): Protocol {
  const name = (text ?? '').trim().toLowerCase()
  if (['-1', 'all', '*', 'any'].includes(name)) return 'all'
  if (name === 'tcp' || name === '6') return 'tcp'
  return name === 'udp' || name === '17' ? 'udp' : 'other'
}

/** Reads port ranges such as `22`, `8000-9000` or `*`; other texts are skipped. */
export function portRanges(texts: readonly string[]): { from: number; to: number }[] {
  return texts.flatMap((text) => {
    if (text.trim() === '*') return [EVERY_PORT]
    const [, from = '', to = from] = /^\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?$/.exec(text) ?? []
    return from === '' ? [] : [{ from: Number(from), to: Number(to) }]
  })
}

/** Texts that mean every address. */
const WORDS = new Map([
  ['*', 'any address'],
  ['any', 'any address'],
  ['internet', 'the internet'],
  ['0.0.0.0', 'all IPv4 addresses'],
  ['::', 'all IPv6 addresses'],
  ['::0', 'all IPv6 addresses'],
])
/** Longest prefix that counts as the internet; the largest private networks are 10.0.0.0/8 and fc00::/7. */
const MAX_IPV4_PREFIX = 7
const MAX_IPV6_PREFIX = 3

/** Returns the public audience of a CIDR block or a word such as `internet`; null for a smaller range. */
export function openTo(range: string): string | null {
  const text = range.trim().toLowerCase()
  const word = WORDS.get(text)
  if (word !== undefined) return word
  const [, address = '', length = ''] = /^([0-9a-f.:]+)\/(\d{1,3})$/.exec(text) ?? []
  if (length === '') return null
  if (address.includes(':')) return Number(length) <= MAX_IPV6_PREFIX ? 'all IPv6 addresses' : null
  return Number(length) <= MAX_IPV4_PREFIX ? 'all IPv4 addresses' : null
}

/** Returns the distinct public audiences of several ranges. */
export const audiencesOf = (ranges: readonly string[]): string[] => [
  ...new Set(ranges.map(openTo).filter((audience) => audience !== null)),
]
