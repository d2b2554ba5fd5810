import { isJsonObject } from '../../base/json.ts'
import { audiencesOf, networkRules, type Opening, protocolOf } from '../network.ts'
import type { Rule, Subject, View } from '../rule.ts'
import { blocksAt, blocksOf, isAbsent, isUnknown, jsonAt, numberOf, textOf, textsOf } from '../view.ts'
import { typesOfKinds } from './types.ts'

const SERVICES = typesOfKinds('service')

/** Annotations that make a load balancer internal, with the values that do so. */
const INTERNAL: Record<string, RegExp> = {
  'service.beta.kubernetes.io/aws-load-balancer-internal': /./,
  'service.beta.kubernetes.io/aws-load-balancer-scheme': /^internal$/,
  'service.beta.kubernetes.io/azure-load-balancer-internal': /^true$/,
  'service.beta.kubernetes.io/oci-load-balancer-internal': /^true$/,
  'oci-network-load-balancer.oraclecloud.com/internal': /^true$/,
  'networking.gke.io/load-balancer-type': /^internal$/i,
  'cloud.google.com/load-balancer-type': /^internal$/i,
}

const isInternal = (subject: Subject) =>
  blocksOf(subject, 'metadata').some((metadata) => {
    if (isUnknown(metadata, 'annotations')) return true
    const annotations = jsonAt(metadata, 'annotations')
    return (
      isJsonObject(annotations) &&
      Object.entries(annotations).some(
        ([key, value]) => Object.hasOwn(INTERNAL, key) && INTERNAL[key]?.test(String(value)) && value !== 'false',
      )
    )
  })

/** Returns a service's public load balancers, with their audiences. */
function balancers(subject: Subject): { spec: View; audience: string }[] {
  if (isInternal(subject)) return []
  return blocksOf(subject, 'spec').flatMap((spec) => {
    if (textOf(spec, 'type') !== 'LoadBalancer') return []
    if (isAbsent(spec, 'load_balancer_source_ranges')) return [{ spec, audience: 'every address' }]
    return audiencesOf(textsOf(spec, 'load_balancer_source_ranges')).map((audience) => ({ spec, audience }))
  })
}

const openings = (subject: Subject): Opening[] =>
  balancers(subject).flatMap(({ spec, audience }) =>
    blocksOf(spec, 'port').flatMap((port) => {
      const number = numberOf(port, 'port')
      return number === null
        ? []
        : [{ audience, protocol: protocolOf(textOf(port, 'protocol') ?? 'TCP'), from: number, to: number }]
    }),
  )

/** What load balancers and network policies let in. */
export const kubernetesNetworkRules: Rule[] = [
  // A load balancer lists its ports one by one, so it cannot open all of them.
  ...networkRules('kubernetes', SERVICES, openings).filter(({ id }) => !id.endsWith('.open-all-ports')),
  {
    id: 'kubernetes.network.open-load-balancer',
    title: 'Load balancer without source ranges',
    reason: 'The service can be reached from the whole internet.',
    fix:
      'Set load_balancer_source_ranges, or make the load balancer internal, ' +
      'unless the service is meant for everyone.',
    severity: 'warning',
    types: SERVICES,
    message: 'The load balancer admits every address.',
    isBrokenBy: (subject) => balancers(subject).length > 0,
  },
  {
    id: 'kubernetes.network.open-policy',
    title: 'Network policy that admits every address',
    reason: 'The pods can be reached on every port from everywhere the network reaches.',
    fix: 'Name the ports and the networks, pods or namespaces that need them.',
    severity: 'warning',
    types: typesOfKinds('network_policy'),
    message: 'A rule admits every address on every port.',
    isBrokenBy: (subject) =>
      blocksAt(subject, 'spec.ingress').some(
        (rule) =>
          isAbsent(rule, 'ports') &&
          audiencesOf(blocksAt(rule, 'from.ip_block').flatMap((block) => textsOf(block, 'cidr'))).length > 0,
      ),
  },
]
