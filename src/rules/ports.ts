export type Protocol = 'tcp' | 'udp' | 'all' | 'other'

/** A public opening: audience, protocol and ports. */
export interface Opening {
  /** Words such as `all IPv4 addresses`. */
  audience: string
  protocol: Protocol
  from: number
  to: number
}

export const EVERY_PORT = { from: 0, to: 65_535 }

/** Ports of administration and file sharing services. */
const ADMIN_TCP: Record<number, string> = {
  22: 'SSH',
  23: 'Telnet',
  135: 'RPC',
  139: 'NetBIOS',
  445: 'SMB',
  2049: 'NFS',
  2375: 'Docker',
  2376: 'Docker',
  2379: 'etcd',
  2380: 'etcd',
  3389: 'RDP',
  5900: 'VNC',
  5901: 'VNC',
  5985: 'WinRM',
  5986: 'WinRM',
  10250: 'kubelet',
}
const ADMIN_UDP: Record<number, string> = { 69: 'TFTP', 161: 'SNMP', 2049: 'NFS', 3389: 'RDP' }
const DATABASE_TCP: Record<number, string> = {
  1433: 'SQL Server',
  1434: 'SQL Server',
  1521: 'Oracle',
  1522: 'Oracle',
  2483: 'Oracle',
  2484: 'Oracle',
  3306: 'MySQL',
  5432: 'PostgreSQL',
  5439: 'Redshift',
  5984: 'CouchDB',
  6379: 'Redis',
  6380: 'Redis',
  7687: 'Neo4j',
  8086: 'InfluxDB',
  9042: 'Cassandra',
  9160: 'Cassandra',
  9200: 'Elasticsearch',
  9300: 'Elasticsearch',
  11211: 'Memcached',
  26257: 'CockroachDB',
  27017: 'MongoDB',
  27018: 'MongoDB',
  27019: 'MongoDB',
  33060: 'MySQL',
  50000: 'Db2',
}
const DATABASE_UDP: Record<number, string> = { 1434: 'SQL Server', 11211: 'Memcached' }
const WEB = new Set([80, 443])

/** Reports whether an opening counts as all ports: a range of at least 65,000 leaves out nothing important. */
export const isEveryPort = ({ protocol, from, to }: Opening): boolean =>
  protocol === 'all' || (protocol !== 'other' && to - from >= 65_000)

/** Returns the administration ports in an opening, for example `22 (SSH)`. */
export const adminPorts = (opening: Opening): string[] => listServices(opening, ADMIN_TCP, ADMIN_UDP)
/** Returns the database ports in an opening, for example `5432 (PostgreSQL)`. */
export const databasePorts = (opening: Opening): string[] => listServices(opening, DATABASE_TCP, DATABASE_UDP)

/** Reports whether an opening is neither web, administration, database nor all ports. */
export const isOtherPort = (opening: Opening): boolean =>
  (opening.protocol === 'tcp' || opening.protocol === 'udp') &&
  !isEveryPort(opening) &&
  adminPorts(opening).length === 0 &&
  databasePorts(opening).length === 0 &&
  !(opening.from === opening.to && WEB.has(opening.from))

function listServices(
  { protocol, from, to }: Opening,
  tcp: Record<number, string>,
  udp: Record<number, string>,
): string[] {
  if (protocol !== 'tcp' && protocol !== 'udp') return []
  return Object.entries(protocol === 'tcp' ? tcp : udp)
    .filter(([port]) => Number(port) >= from && Number(port) <= to)
    .map(([port, name]) => `${port} (${name})`)
}

/** Reads a protocol by name or number. */
export function protocolOf(text: string | null): Protocol {
  const name = (text ?? '').trim().toLowerCase()
  if (name === '-1' || name === 'all' || name === '*' || name === 'any') return 'all'
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
