import { audiencesOf, describeOpening, EVERY_PORT, networkRules, type Opening, protocolOf } from '../network.ts'
import type { Rule, Subject, View } from '../rule.ts'
import { blocksOf, flagOf, isUnknown, numberOf, textOf, textsOf } from '../view.ts'

/** Types of security groups, whose inline blocks are rules. */
const GROUPS = ['aws_security_group', 'aws_default_security_group']
/** Types with openings: security groups, both resource types of their rules, and Lightsail. */
const OPENING_TYPES = [
  ...GROUPS,
  'aws_security_group_rule',
  'aws_vpc_security_group_ingress_rule',
  'aws_lightsail_instance_public_ports',
]

const ACCESS_LISTS = ['aws_network_acl', 'aws_network_acl_rule']

/** What security groups and network access lists let in. */
export const awsNetworkRules: Rule[] = [
  ...networkRules('aws', OPENING_TYPES, openings),
  {
    id: 'aws.network.open-access-list',
    title: 'Network access list open to the internet',
    reason: 'The list no longer stops what a security group lets through by mistake.',
    fix: 'Admit the networks and ports that the subnet serves, and the ports of answers above 1023.',
    severity: 'warning',
    types: ACCESS_LISTS,
    check: (subject) =>
      accessListOpenings(subject).flatMap(({ isCut, ...opening }) =>
        describeOpening(opening).map((text) =>
          isCut ? text.replace(/\.$/, ', except what earlier entries deny.') : text,
        ),
      ),
  },
]

function openings(subject: Subject): Opening[] {
  if (GROUPS.includes(subject.type)) return blocksOf(subject, 'ingress').flatMap((rule) => openingsOf(rule, 'protocol'))
  if (subject.type === 'aws_security_group_rule')
    return textOf(subject, 'type') === 'ingress' ? openingsOf(subject, 'protocol') : []
  if (subject.type === 'aws_vpc_security_group_ingress_rule') return openingsOf(subject, 'ip_protocol')
  return blocksOf(subject, 'port_info').flatMap((rule) => openingsOf(rule, 'protocol'))
}

/** `isCut`: it is open to every protocol, but earlier entries deny some of its ports to one. */
type ListOpening = Opening & { isCut: boolean }

/**
 * Returns what an access list admits beside answers; the first matching entry decides, so an earlier one for everyone
 * hides later ones.
 */
function accessListOpenings(subject: Subject): ListOpening[] {
  const isList = subject.type === 'aws_network_acl'
  const entries = isList ? blocksOf(subject, 'ingress') : flagOf(subject, 'egress') === true ? [] : [subject]
  const [action, number] = isList ? ['action', 'rule_no'] : ['rule_action', 'rule_number']
  const denied: Opening[] = []
  return entries
    .toSorted((a, b) => (numberOf(a, number) ?? 0) - (numberOf(b, number) ?? 0))
    .flatMap((entry) => {
      const openings = openingsOf(entry, 'protocol')
      if (textOf(entry, action)?.toLowerCase() === 'allow')
        return openings
          .filter((opening) => !isForAnswers(opening))
          .flatMap((opening) => denied.reduce(without, [opening]))
          .map((opening) => ({ ...opening, isCut: denied.some((one) => isWithin(one, opening)) }))
      denied.push(...openings)
      return []
    })
}

/** First ports of the ranges from which systems call others, and the least last one. */
const CALLING = { from: new Set([1024, 1025, 32_768, 49_152]), to: 60_999 }

/**
 * Reports whether an opening is what lets the answers to calls from the subnet in, since access lists keep no state:
 * https://docs.aws.amazon.com/vpc/latest/userguide/custom-network-acl.html#nacl-ephemeral-ports
 */
const isForAnswers = ({ protocol, from, to }: Opening): boolean =>
  (protocol === 'tcp' || protocol === 'udp') && CALLING.from.has(from) && to >= CALLING.to

/** Takes what an earlier entry denies from openings. */
const without = (openings: readonly Opening[], denied: Opening): Opening[] =>
  openings.flatMap((opening) => {
    const { audience, protocol, from, to } = opening
    if (denied.audience !== audience || denied.to < from || denied.from > to) return [opening]
    // What is open to every protocol stays so without one of them.
    if (denied.protocol !== 'all' && denied.protocol !== protocol) return [opening]
    return [
      { ...opening, to: denied.from - 1 },
      { ...opening, from: denied.to + 1 },
    ].filter((rest) => rest.from <= rest.to)
  })

/** True if an entry denies a part of an opening that `without` does not take from it. */
const isWithin = (denied: Opening, { audience, protocol, from, to }: Opening): boolean =>
  denied.audience === audience &&
  protocol === 'all' &&
  denied.protocol !== 'all' &&
  denied.to >= from &&
  denied.from <= to

const SOURCES = [
  'cidr_block',
  'ipv6_cidr_block',
  'cidr_blocks',
  'ipv6_cidr_blocks',
  'cidr_ipv4',
  'cidr_ipv6',
  'cidrs',
  'ipv6_cidrs',
]

function openingsOf(rule: View, protocolKey: string): Opening[] {
  // A protocol that nobody knows yet does not make a known port safe.
  const protocol = protocolOf(textOf(rule, protocolKey) ?? 'tcp')
  const ports = portsOf(rule, protocol === 'all')
  if (ports === null) return []
  return audiencesOf(SOURCES.flatMap((key) => textsOf(rule, key))).map((audience) => ({ audience, protocol, ...ports }))
}

/** Returns the ports of a rule; null when they are unknown before the apply or not set. */
function portsOf(rule: View, all: boolean): { from: number; to: number } | null {
  if (all) return EVERY_PORT
  if (isUnknown(rule, 'from_port') || isUnknown(rule, 'to_port')) return null
  const from = numberOf(rule, 'from_port')
  const to = numberOf(rule, 'to_port') ?? from
  return from === null || to === null ? null : { from, to }
}
