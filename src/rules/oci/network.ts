import { audiencesOf, EVERY_PORT, networkRules, type Opening, protocolOf } from '../network.ts'
import type { Rule, Subject, View } from '../rule.ts'
import { blocksOf, isUnknown, numberOf, textOf, textsOf } from '../view.ts'

const LISTS = ['oci_core_security_list', 'oci_core_default_security_list']
const TYPES = [...LISTS, 'oci_core_network_security_group_security_rule']

/** What security lists and security groups let in. */
export const ociNetworkRules: Rule[] = networkRules('oci', TYPES, openings)

function openings(subject: Subject): Opening[] {
  if (LISTS.includes(subject.type)) return blocksOf(subject, 'ingress_security_rules').flatMap(openingsOf)
  return textOf(subject, 'direction')?.toUpperCase() === 'INGRESS' ? openingsOf(subject) : []
}

function openingsOf(rule: View): Opening[] {
  // A protocol that nobody knows yet does not make a known port safe.
  const known = textOf(rule, 'protocol') ?? ['tcp', 'udp'].find((name) => blocksOf(rule, `${name}_options`).length > 0)
  const protocol = protocolOf(known ?? null)
  const ports = protocol === 'tcp' || protocol === 'udp' ? portsOf(rule, `${protocol}_options`) : [EVERY_PORT]
  return audiencesOf(textsOf(rule, 'source')).flatMap((audience) =>
    ports.map((range) => ({ audience, protocol, ...range })),
  )
}

/** Returns the destination ports of a rule, which are every port without options, for either resource type. */
function portsOf(rule: View, key: string): { from: number; to: number }[] {
  const options = blocksOf(rule, key)
  if (options.length === 0) return isUnknown(rule, key) ? [] : [EVERY_PORT]
  return options.flatMap((option) => {
    const destinationRanges = blocksOf(option, 'destination_port_range')
    return (destinationRanges.length > 0 ? destinationRanges : [option])
      .filter((range) => !isUnknown(range, 'min') && !isUnknown(range, 'max'))
      .map((range) => ({
        from: numberOf(range, 'min') ?? EVERY_PORT.from,
        to: numberOf(range, 'max') ?? EVERY_PORT.to,
      }))
  })
}
