import { audiencesOf, networkRules, type Opening, openTo, portRanges, protocolOf } from '../network.ts'
import type { Rule, Subject, View } from '../rule.ts'
import { blocksOf, textOf, textsOf } from '../view.ts'

const FIREWALL_RULES = [
  'azurerm_mssql_firewall_rule',
  'azurerm_sql_firewall_rule',
  'azurerm_mssql_managed_instance_firewall_rule',
  'azurerm_postgresql_firewall_rule',
  'azurerm_postgresql_flexible_server_firewall_rule',
  'azurerm_mysql_firewall_rule',
  'azurerm_mysql_flexible_server_firewall_rule',
  'azurerm_mariadb_firewall_rule',
  'azurerm_redis_firewall_rule',
  'azurerm_synapse_firewall_rule',
  'azurerm_cosmosdb_postgresql_firewall_rule',
  'azurerm_mongo_cluster_firewall_rule',
]
/** Addresses in the largest private network, 10.0.0.0/8; larger ranges include public ones. */
const LARGEST_PRIVATE = 2 ** 24
const lastAddress = (subject: Subject) => textOf(subject, 'end_ip_address') ?? textOf(subject, 'end_ip') ?? ''

/** Counts the addresses of an IPv4 range; 0 when it is invalid. */
function addressCount(subject: Subject): number {
  const first = ipv4(textOf(subject, 'start_ip_address') ?? textOf(subject, 'start_ip') ?? '')
  const last = ipv4(lastAddress(subject))
  return first === null || last === null || last < first ? 0 : last - first + 1
}

function ipv4(text: string): number | null {
  const parts = text.trim().split('.')
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return null
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0)
}

/** What network security groups and firewalls of databases let in. */
export const azureNetworkRules: Rule[] = [
  ...networkRules('azure', ['azurerm_network_security_group', 'azurerm_network_security_rule'], openings),
  {
    id: 'azure.database.open-firewall',
    title: 'Database firewall open to the internet',
    reason: 'Anyone can try logins against the server.',
    fix: 'Name the addresses that need it, or use a private endpoint.',
    severity: 'error',
    types: FIREWALL_RULES,
    message: 'The range of addresses is larger than any private network, and so includes public ones.',
    isBrokenBy: (subject) => addressCount(subject) > LARGEST_PRIVATE,
  },
  {
    id: 'azure.database.azure-services-allowed',
    title: 'Database firewall admits all of Azure',
    reason: 'The range 0.0.0.0 to 0.0.0.0 admits resources of every customer of Azure, not only yours.',
    fix: 'Use a private endpoint or a rule for a virtual network.',
    severity: 'warning',
    types: FIREWALL_RULES,
    message: 'The rule admits every resource in Azure, also of other customers.',
    isBrokenBy: (subject) => lastAddress(subject) === '0.0.0.0' && addressCount(subject) === 1,
  },
  {
    id: 'azure.database.open-account',
    title: 'Cosmos DB account open to the internet',
    reason: 'Anyone can try keys against the account.',
    fix: 'Name addresses or virtual networks, or switch public network access off.',
    severity: 'error',
    types: ['azurerm_cosmosdb_account'],
    message: 'The address filter admits every address.',
    isBrokenBy: (subject) => {
      const ranges = textsOf(subject, 'ip_range_filter').flatMap((text) => text.split(','))
      return ranges.some((range) => range.includes('/') && openTo(range) !== null)
    },
  },
]

function openings(subject: Subject): Opening[] {
  const isGroup = subject.type === 'azurerm_network_security_group'
  return isGroup ? blocksOf(subject, 'security_rule').flatMap(openingsOf) : openingsOf(subject)
}

function openingsOf(rule: View): Opening[] {
  const is = (key: string, value: string) => textOf(rule, key)?.toLowerCase() === value
  if (!is('direction', 'inbound') || !is('access', 'allow')) return []
  const protocol = protocolOf(textOf(rule, 'protocol'))
  const sources = audiencesOf([...textsOf(rule, 'source_address_prefix'), ...textsOf(rule, 'source_address_prefixes')])
  const ports = portRanges([...textsOf(rule, 'destination_port_range'), ...textsOf(rule, 'destination_port_ranges')])
  // A rule for any protocol may name ports. It counts as TCP, since `all` would mean every port.
  const protocolFor = (range: { from: number; to: number }) =>
    protocol === 'all' && range.to - range.from < 65_000 ? 'tcp' : protocol
  return sources.flatMap((audience) => ports.map((range) => ({ audience, protocol: protocolFor(range), ...range })))
}
