import { networkRules } from '../network.ts'
import { type Opening, portRanges, protocolOf } from '../ports.ts'
import { audiencesOf } from '../public-address.ts'
import type { Rule, Subject, View } from '../types.ts'
import { blocksOf, textOf, textsOf } from '../view.ts'

const openings = (subject: Subject): Opening[] =>
  subject.type === 'azurerm_network_security_group'
    ? blocksOf(subject, 'security_rule').flatMap(openingsOf)
    : openingsOf(subject)

/** Openings of network security groups, whose rules may be inline blocks or resources of their own. */
export const azureNetworkRules: Rule[] = networkRules(
  'azure',
  ['azurerm_network_security_group', 'azurerm_network_security_rule'],
  openings,
)

function openingsOf(rule: View): Opening[] {
  const is = (key: string, value: string) => textOf(rule, key)?.toLowerCase() === value
  if (!is('direction', 'inbound') || !is('access', 'allow')) return []
  const protocol = protocolOf(textOf(rule, 'protocol'))
  const sources = audiencesOf([...textsOf(rule, 'source_address_prefix'), ...textsOf(rule, 'source_address_prefixes')])
  const ports = portRanges([...textsOf(rule, 'destination_port_range'), ...textsOf(rule, 'destination_port_ranges')])
  // A rule for any protocol may still name its ports. It then counts as TCP, since `all` would mean every port.
  const protocolFor = (range: { from: number; to: number }) =>
    protocol === 'all' && range.to - range.from < 65_000 ? 'tcp' : protocol
  return sources.flatMap((audience) => ports.map((range) => ({ audience, protocol: protocolFor(range), ...range })))
}
