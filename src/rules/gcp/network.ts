import { audiencesOf, EVERY_PORT, networkRules, type Opening, portRanges, protocolOf } from '../network.ts'
import type { Rule, Subject, View } from '../rule.ts'
import { blocksOf, flagOf, isUnknown, textOf, textsOf } from '../view.ts'

/** Types of firewalls and of rules of firewall policies. */
const FIREWALLS = [
  'google_compute_firewall',
  'google_compute_firewall_policy_rule',
  'google_compute_network_firewall_policy_rule',
  'google_compute_region_network_firewall_policy_rule',
]

/** What firewalls let in. */
export const gcpNetworkRules: Rule[] = networkRules('gcp', FIREWALLS, openings)

function openings(subject: Subject): Opening[] {
  if (flagOf(subject, 'disabled') === true || (textOf(subject, 'direction') ?? 'INGRESS').toUpperCase() !== 'INGRESS')
    return []
  if (subject.type === 'google_compute_firewall')
    return openingsOf(textsOf(subject, 'source_ranges'), blocksOf(subject, 'allow'), 'protocol')
  if (textOf(subject, 'action')?.toLowerCase() !== 'allow') return []
  return blocksOf(subject, 'match').flatMap((match) =>
    openingsOf(textsOf(match, 'src_ip_ranges'), blocksOf(match, 'layer4_configs'), 'ip_protocol'),
  )
}

function openingsOf(sources: string[], allowed: View[], protocolKey: string): Opening[] {
  return audiencesOf(sources).flatMap((audience) =>
    allowed.flatMap((rule) => {
      const protocol = protocolOf(textOf(rule, protocolKey))
      if (isUnknown(rule, 'ports')) return []
      const ports = textsOf(rule, 'ports')
      return (ports.length === 0 ? [EVERY_PORT] : portRanges(ports)).map((range) => ({ audience, protocol, ...range }))
    }),
  )
}
