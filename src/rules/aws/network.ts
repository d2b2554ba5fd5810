import { networkRules } from '../network.ts'
import { EVERY_PORT, type Opening, protocolOf } from '../ports.ts'
import { audiencesOf } from '../public-address.ts'
import type { Rule, Subject, View } from '../types.ts'
import { blocksOf, isUnknown, numberOf, textOf, textsOf } from '../view.ts'

const GROUPS = ['aws_security_group', 'aws_default_security_group']

/** Openings of security groups, whose rules may be inline blocks or one of two resource types, and of Lightsail. */
export const awsNetworkRules: Rule[] = networkRules(
  'aws',
  [...GROUPS, 'aws_security_group_rule', 'aws_vpc_security_group_ingress_rule', 'aws_lightsail_instance_public_ports'],
  openings,
)

function openings(subject: Subject): Opening[] {
  if (GROUPS.includes(subject.type)) return blocksOf(subject, 'ingress').flatMap((rule) => openingsOf(rule, 'protocol'))
  if (subject.type === 'aws_security_group_rule')
    return textOf(subject, 'type') === 'ingress' ? openingsOf(subject, 'protocol') : []
  if (subject.type === 'aws_vpc_security_group_ingress_rule') return openingsOf(subject, 'ip_protocol')
  return blocksOf(subject, 'port_info').flatMap((rule) => openingsOf(rule, 'protocol'))
}

const SOURCES = ['cidr_blocks', 'ipv6_cidr_blocks', 'cidr_ipv4', 'cidr_ipv6', 'cidrs', 'ipv6_cidrs']

function openingsOf(rule: View, protocolKey: string): Opening[] {
  const protocol = protocolOf(textOf(rule, protocolKey))
  const ports = portsOf(rule, protocol === 'all')
  if (ports === null) return []
  return audiencesOf(SOURCES.flatMap((key) => textsOf(rule, key))).map((audience) => ({ audience, protocol, ...ports }))
}

/** The ports of a rule; null when they are not known before the apply, or not set. */
function portsOf(rule: View, all: boolean): { from: number; to: number } | null {
  if (all) return EVERY_PORT
  if (isUnknown(rule, 'from_port') || isUnknown(rule, 'to_port')) return null
  const from = numberOf(rule, 'from_port')
  const to = numberOf(rule, 'to_port') ?? from
  return from === null || to === null ? null : { from, to }
}
