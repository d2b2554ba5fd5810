import type { Severity } from '../base/vocabulary.ts'
import { adminPorts, databasePorts, isEveryPort, isOtherPort, type Opening } from './ports.ts'
import type { Cloud, Rule, Subject } from './rule.ts'

/** A rule about openings, independent of cloud and types. */
interface OpeningRule {
  /** Last part of the id. */
  name: string
  title: string
  reason: string
  fix: string
  severity: Severity
  /** Returns the message about an opening; null when there is none. */
  describe(opening: Opening): string | null
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
    cloud,
    types,
    check: (subject) =>
      openings(subject)
        .map(describe)
        .filter((message) => message !== null),
  }))
}

const NAME_NETWORKS = 'Name the networks that need it, or put a bastion, a VPN or a private endpoint in between.'

const OPENING_RULES: readonly OpeningRule[] = [
  {
    name: 'open-all-ports',
    title: 'All ports open to the internet',
    reason: 'Every service that listens now or later can be reached and attacked by anyone.',
    fix: 'Open only the ports the service needs, and only to the networks that use them.',
    severity: 'critical',
    describe: (opening) =>
      isEveryPort(opening) ? `Every port is open to ${opening.audience}${protocolNote(opening)}.` : null,
  },
  {
    name: 'open-admin-port',
    title: 'Administration port open to the internet',
    reason:
      'Ports of remote administration are scanned and attacked within minutes; ' +
      'one weak login gives the machine away.',
    fix: NAME_NETWORKS,
    severity: 'error',
    describe: (opening) => {
      const ports = isEveryPort(opening) ? [] : adminPorts(opening)
      return ports.length === 0
        ? null
        : `Administration is open to ${opening.audience}: ${opening.protocol} ${listPorts(ports)}.`
    },
  },
  {
    name: 'open-database-port',
    title: 'Database port open to the internet',
    reason: 'A database that anyone can reach is one weak password or one bug away from losing its data.',
    fix: NAME_NETWORKS,
    severity: 'error',
    describe: (opening) => {
      const ports = isEveryPort(opening) ? [] : databasePorts(opening)
      return ports.length === 0
        ? null
        : `A database port is open to ${opening.audience}: ${opening.protocol} ${listPorts(ports)}.`
    },
  },
  {
    name: 'open-other-port',
    title: 'Another port open to the internet',
    reason: 'Apart from the web ports 80 and 443 a public port should be a decision, not an accident.',
    fix: 'Check that the service is meant for everyone; otherwise name the networks that need it.',
    severity: 'info',
    describe: (opening) =>
      isOtherPort(opening) ? `${opening.protocol} ${rangeOf(opening)} open to ${opening.audience}.` : null,
  },
]

const MAX_NAMED = 5
const listPorts = (ports: readonly string[]) =>
  ports.length > MAX_NAMED
    ? `${ports.slice(0, MAX_NAMED).join(', ')} and ${ports.length - MAX_NAMED} more`
    : ports.join(', ')
const rangeOf = ({ from, to }: Opening) => (from === to ? `port ${from}` : `ports ${from} to ${to}`)
const protocolNote = ({ protocol }: Opening) => (protocol === 'all' ? '' : ` (${protocol})`)
