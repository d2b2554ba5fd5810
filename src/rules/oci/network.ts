import { networkRules } from '../network.ts'
import { EVERY_PORT, type Opening, protocolOf } from '../ports.ts'
import { audiencesOf } from '../public-address.ts'
import type { Rule, Subject, View } from '../types.ts'
import { blocksOf, isUnknown, numberOf, textOf, textsOf } from '../view.ts'

const LISTS = ['oci_core_security_list', 'oci_core_default_security_list']

/** Openings of security lists and of the rules of network security groups. */
export const ociNetworkRules: Rule[] = networkRules(
  'oci',
  [...LISTS, 'oci_core_network_security_group_security_rule'],
  openings,
)

function openings(subject: Subject): Opening[] {
  if (LISTS.includes(subject.type)) return blocksOf(subject, 'ingress_security_rules').flatMap(openingsOf)
  return textOf(subject, 'direction')?.toUpperCase() === 'INGRESS' ? openingsOf(subject) : []
}

function openingsOf(rule: View): Opening[] {
  const protocol = protocolOf(textOf(rule, 'protocol'))
  const ports = protocol === 'tcp' || protocol === 'udp' ? portsOf(rule, `${protocol}_options`) : [EVERY_PORT]
  return audiencesOf(textsOf(rule, 'source')).flatMap((audience) =>
    ports.map((range) => ({ audience, protocol, ...range })),
  )
}

/**
 * The destination ports of a rule. Without options it is for every port. A security list has the ports in the options,
 * a rule of a network security group in a block inside them.
 */
function portsOf(rule: View, key: string): { from: number; to: number }[] {
  if (isUnknown(rule, key)) return []
  const options = blocksOf(rule, key)
  if (options.length === 0) return [EVERY_PORT]
  return options.flatMap((option) => {
    const destinationRanges = blocksOf(option, 'destination_port_range')
    return (destinationRanges.length > 0 ? destinationRanges : [option]).map((range) => ({
      from: numberOf(range, 'min') ?? EVERY_PORT.from,
      to: numberOf(range, 'max') ?? EVERY_PORT.to,
    }))
  })
}
