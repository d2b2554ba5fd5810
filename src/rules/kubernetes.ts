import { parse } from 'yaml'
import { isJsonObject, type Json, type JsonObject, ownMember } from '../base/json.ts'
import { wordsOf } from '../base/text.ts'
import { audiencesOf, isOpen, networkRules, type Opening, protocolOf } from './network.ts'
import type { Rule, Subject, View } from './rule.ts'
import { blocksAt, blocksOf, flagOf, isAbsent, isUnknown, jsonAt, numberOf, objectOf, textOf, textsOf } from './view.ts'

/** Returns both provider types of each kind: `pod` gives `kubernetes_pod` and `kubernetes_pod_v1`. */
const typesOfKinds = (...names: string[]): string[] =>
  names.flatMap((name) => [`kubernetes_${name}`, `kubernetes_${name}_v1`])

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

const PODS = typesOfKinds('pod')
const CRON_JOBS = typesOfKinds('cron_job')
const TEMPLATED = [
  ...typesOfKinds('deployment', 'stateful_set', 'replication_controller', 'job'),
  'kubernetes_daemonset',
  'kubernetes_daemon_set',
  'kubernetes_daemon_set_v1',
]
const types = [...PODS, ...TEMPLATED, ...CRON_JOBS]

/** Returns the pod specifications of a workload. */
function podsOf(subject: Subject): View[] {
  if (PODS.includes(subject.type)) return blocksOf(subject, 'spec')
  return blocksAt(
    subject,
    CRON_JOBS.includes(subject.type) ? 'spec.job_template.spec.template.spec' : 'spec.template.spec',
  )
}

const contexts = (subject: Subject) =>
  podsOf(subject).flatMap((pod) =>
    ['container', 'init_container'].flatMap((key) => blocksAt(pod, `${key}.security_context`)),
  )

/** Node directories that give access to the whole node. */
const SENSITIVE = [
  '/etc',
  '/proc',
  '/sys',
  '/root',
  '/dev',
  '/boot',
  '/var/run',
  '/run',
  '/var/lib/kubelet',
  '/var/lib/docker',
  '/var/lib/containerd',
]
const isSensitive = (path: string) => {
  const plain = path.replace(/(?<!\/)\/+$/, '')
  return (
    plain === '' ||
    plain === '/var' ||
    plain === '/var/lib' ||
    SENSITIVE.some((folder) => plain === folder || plain.startsWith(`${folder}/`))
  )
}
const hostPaths = (subject: Subject) =>
  podsOf(subject)
    .flatMap((pod) => blocksAt(pod, 'volume.host_path'))
    .map((volume) => textOf(volume, 'path'))
    .filter((path) => path !== null)

const POWERFUL = new Set([
  'ALL',
  'SYS_ADMIN',
  'SYS_MODULE',
  'SYS_PTRACE',
  'NET_ADMIN',
  'DAC_READ_SEARCH',
  'SYS_RAWIO',
  'BPF',
])

const CLUSTER_BINDINGS = typesOfKinds('cluster_role_binding')
const BINDINGS = [...CLUSTER_BINDINGS, ...typesOfKinds('role_binding')]
const CLUSTER_ROLES = typesOfKinds('cluster_role')

const roleOf = (subject: Subject) => textOf(blocksOf(subject, 'role_ref')[0] ?? subject, 'name')
const bindsTo = (subject: Subject, pattern: RegExp) =>
  blocksOf(subject, 'subject').some((who) => pattern.test(textOf(who, 'name') ?? ''))

/** Roles that every cluster grants to callers without a login. */
const PUBLIC_ROLES = new Set(['system:public-info-viewer', 'system:discovery', 'system:basic-user'])
const ANONYMOUS = /^system:(anonymous|unauthenticated)$/
const WHOLE_CLUSTER = /^system:(authenticated|serviceaccounts)$/
const hasAny = (rule: View, key: string, ...wanted: string[]) =>
  textsOf(rule, key).some((value) => wanted.includes(value))
/** Resources by which one gets into a pod. */
const ENTRANCES = ['pods/exec', 'pods/attach', 'pods/ephemeralcontainers', 'pods/*', 'nodes/proxy', 'nodes/*']
/** The core group holds secrets, pods and tokens, so that all of it leads to all of the cluster. */
const coversEverything = (rule: View) =>
  hasAny(rule, 'api_groups', '*', '') && ['resources', 'verbs'].every((key) => hasAny(rule, key, '*'))

export const kubernetesRules: Rule[] = [
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
    id: 'kubernetes.network.ingress-without-tls',
    title: 'Ingress without TLS',
    reason: 'Requests, cookies and passwords travel in clear.',
    fix: 'Add a tls block with a certificate.',
    severity: 'warning',
    types: typesOfKinds('ingress'),
    message: 'The ingress has no tls block.',
    isBrokenBy: (subject) => blocksOf(subject, 'spec').some((spec) => isAbsent(spec, 'tls')),
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
      blocksAt(subject, 'spec.ingress').some((rule) => isAbsent(rule, 'ports') && isOpen(rule, 'from.ip_block.cidr')),
  },
  {
    id: 'kubernetes.pod.privileged',
    title: 'Privileged container',
    reason: 'A process in it is root on the node, and from there on every pod of the node.',
    fix: 'Remove privileged, and add only the capabilities that are needed.',
    severity: 'error',
    types,
    message: 'A container is privileged.',
    isBrokenBy: (subject) => contexts(subject).some((context) => flagOf(context, 'privileged') === true),
  },
  {
    id: 'kubernetes.pod.sensitive-host-path',
    title: 'Folder of the node that leads to all of it',
    reason: 'With the file system, the devices or the runtime of the node a process controls the node.',
    fix: 'Use a volume; what needs the node belongs into an agent that the cluster provides.',
    severity: 'error',
    types,
    message: 'A volume mounts a system folder of the node.',
    isBrokenBy: (subject) => hostPaths(subject).some(isSensitive),
  },
  {
    id: 'kubernetes.pod.host-path',
    title: 'Folder of the node',
    reason: 'The pod depends on one node, and shares files with whatever else mounts them there.',
    fix: 'Use a persistent volume.',
    severity: 'warning',
    types,
    message: 'A volume mounts a folder of the node.',
    isBrokenBy: (subject) => hostPaths(subject).some((path) => !isSensitive(path)),
  },
  {
    id: 'kubernetes.pod.host-namespaces',
    title: 'Network, processes or memory of the node',
    reason: 'The pod sees and reaches what network policies and isolation keep from others.',
    fix: 'Remove host_network, host_pid and host_ipc; publish through a service.',
    severity: 'warning',
    types,
    check: (subject) =>
      ['host_network', 'host_pid', 'host_ipc']
        .filter((key) => podsOf(subject).some((pod) => flagOf(pod, key) === true))
        .map((key) => `${key} is true.`),
  },
  {
    id: 'kubernetes.pod.powerful-capability',
    title: 'Capability close to root',
    reason: 'With it a process can leave its container or read what is not its own.',
    fix: 'Drop ALL and add only what is needed.',
    severity: 'warning',
    types,
    message: 'A container adds a powerful capability.',
    isBrokenBy: (subject) =>
      contexts(subject)
        .flatMap((context) => blocksOf(context, 'capabilities'))
        .some((capabilities) =>
          textsOf(capabilities, 'add').some((name) => POWERFUL.has(name.toUpperCase().replace(/^CAP_/, ''))),
        ),
  },
  {
    id: 'kubernetes.rbac.anonymous-subject',
    title: 'Permission for callers without a login',
    reason: 'Whoever reaches the API of the cluster gets the permission.',
    fix: 'Bind the role to named users, groups or service accounts.',
    severity: 'critical',
    types: BINDINGS,
    message: 'A subject is everyone without a login.',
    isBrokenBy: (subject) => bindsTo(subject, ANONYMOUS) && !PUBLIC_ROLES.has(roleOf(subject) ?? ''),
  },
  {
    id: 'kubernetes.rbac.whole-cluster-subject',
    title: 'Permission for everyone in the cluster',
    reason: 'Every user or every pod of the cluster gets the permission.',
    fix: 'Bind the role to the service accounts that need it.',
    severity: 'warning',
    types: CLUSTER_BINDINGS,
    message: 'A subject is every user or every service account.',
    isBrokenBy: (subject) => bindsTo(subject, WHOLE_CLUSTER) && !PUBLIC_ROLES.has(roleOf(subject) ?? ''),
  },
  {
    id: 'kubernetes.rbac.cluster-admin',
    title: 'Administrator of the cluster',
    reason: 'The subject can do everything in every namespace and read every secret.',
    fix: 'Bind a role with the resources and verbs that are needed.',
    severity: 'error',
    types: CLUSTER_BINDINGS,
    message: 'Binds cluster-admin for the whole cluster.',
    isBrokenBy: (subject) => roleOf(subject) === 'cluster-admin',
  },
  {
    id: 'kubernetes.rbac.namespace-admin',
    title: 'Administrator of a namespace',
    reason: 'The subject can do everything in the namespace, secrets included.',
    fix: 'Bind a role with the resources and verbs that are needed.',
    severity: 'warning',
    types: typesOfKinds('role_binding'),
    message: 'Binds cluster-admin in a namespace.',
    isBrokenBy: (subject) => roleOf(subject) === 'cluster-admin',
  },
  {
    id: 'kubernetes.rbac.wildcard-cluster-role',
    title: 'Role with everything on everything',
    reason: 'The role is cluster-admin by another name.',
    fix: 'List API groups, resources and verbs.',
    severity: 'error',
    types: CLUSTER_ROLES,
    message: 'A rule allows every verb on every resource.',
    isBrokenBy: (subject) => blocksOf(subject, 'rule').some(coversEverything),
  },
  {
    id: 'kubernetes.rbac.wildcard-role',
    title: 'Role with everything in a namespace',
    reason: 'The role covers secrets, and what is added later.',
    fix: 'List API groups, resources and verbs.',
    severity: 'warning',
    types: typesOfKinds('role'),
    message: 'A rule allows every verb on every resource of the namespace.',
    isBrokenBy: (subject) => blocksOf(subject, 'rule').some(coversEverything),
  },
  {
    id: 'kubernetes.rbac.wildcard-field',
    title: 'Role with a wildcard in one field',
    reason: 'The role covers resources, groups or verbs that come later, and more of the present ones than it needs.',
    fix: 'List API groups, resources and verbs.',
    severity: 'warning',
    types: [...CLUSTER_ROLES, ...typesOfKinds('role')],
    check: (subject) =>
      ['api_groups', 'resources', 'verbs', 'non_resource_urls']
        .filter((key) => blocksOf(subject, 'rule').some((rule) => !coversEverything(rule) && hasAny(rule, key, '*')))
        .map((key) => `A rule has * in ${key}.`),
  },
  {
    id: 'kubernetes.rbac.pod-access',
    title: 'Role that enters every pod',
    reason:
      'A process in a pod, or a token of its service account, gives the permissions of the pod, in every namespace.',
    fix: 'Use a role in the namespace.',
    severity: 'warning',
    types: CLUSTER_ROLES,
    message: 'A rule enters pods, reaches them through their node, or makes tokens of service accounts.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'rule').some(
        (rule) =>
          !coversEverything(rule) &&
          textsOf(rule, 'resource_names').length === 0 &&
          ((hasAny(rule, 'resources', ...ENTRANCES) &&
            hasAny(rule, 'verbs', '*', 'create', 'get', 'update', 'patch')) ||
            (hasAny(rule, 'resources', 'serviceaccounts/token') && hasAny(rule, 'verbs', '*', 'create'))),
      ),
  },
  {
    id: 'kubernetes.rbac.masters-group',
    title: 'Identities of AWS as administrators of the cluster',
    reason: 'The group system:masters may do everything, and no role or binding can take that away.',
    fix: 'Map them to a group of your own, and bind the role that it needs.',
    severity: 'warning',
    types: [...typesOfKinds('config_map'), 'kubernetes_config_map_v1_data'],
    message: 'The map of identities names system:masters.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'metadata').some((metadata) => textOf(metadata, 'name') === 'aws-auth') &&
      blocksOf(subject, 'data').some((data) =>
        ['mapRoles', 'mapUsers'].some((key) => /\bsystem:masters\b/.test(textOf(data, key) ?? '')),
      ),
  },
  {
    id: 'kubernetes.rbac.escalation',
    title: 'Role that can give itself more',
    reason: 'With escalate, bind or impersonate a subject reaches permissions that it was not given.',
    fix: 'Leave these verbs to the administrators of the cluster.',
    severity: 'warning',
    types: CLUSTER_ROLES,
    message: 'A rule allows escalate, bind or impersonate.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'rule').some((rule) => hasAny(rule, 'verbs', 'escalate', 'bind', 'impersonate')),
  },
  {
    id: 'kubernetes.rbac.all-secrets',
    title: 'Role that reads every secret',
    reason: 'Secrets of every namespace, tokens of service accounts included, can be read.',
    fix: 'Use a role in the namespace, and name the secrets.',
    severity: 'warning',
    types: CLUSTER_ROLES,
    message: 'A rule reads the secrets of every namespace.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'rule').some(
        (rule) =>
          hasAny(rule, 'resources', 'secrets') &&
          hasAny(rule, 'verbs', '*', 'get', 'list', 'watch') &&
          textsOf(rule, 'resource_names').length === 0,
      ),
  },
]

/** The provider's singular names of repeated blocks. */
const SINGULAR = new Map([
  ['containers', 'container'],
  ['init_containers', 'init_container'],
  ['volumes', 'volume'],
  ['subjects', 'subject'],
  ['rules', 'rule'],
  ['ports', 'port'],
])
/** Maps with user-chosen keys, which are not converted. */
const FREE = new Set(['data', 'string_data', 'binary_data', 'labels', 'annotations', 'match_labels', 'parameters'])
const MAX_DEPTH = 40
const MAX_YAML = 200_000

/** Converts a raw manifest to its typed resource, so that the same rules apply; null where there is none. */
export function typedManifest(subject: Subject): Subject | null {
  const manifest = manifestOf(subject.type, subject.values)
  const type = isJsonObject(manifest) && typeof manifest.kind === 'string' ? typeOfKind(manifest.kind) : undefined
  if (type === undefined) return null
  const convert = (value: Json) => objectOf(renameKeys(value, type, 0))
  const flags = (part: Json | undefined) => (isJsonObject(part) ? convert(part.manifest ?? null) : part)
  return {
    ...subject,
    type,
    values: convert(manifest),
    unknown: flags(subject.unknown),
    sensitive: flags(subject.sensitive),
    before: convert(manifestOf(subject.type, subject.before)),
  }
}

function manifestOf(type: string, values: JsonObject): Json {
  if (type === 'kubernetes_manifest') return ownMember(values, 'manifest') ?? null
  const text = ownMember(values, 'yaml_body')
  if (typeof text !== 'string' || text.length > MAX_YAML) return null
  try {
    const document: unknown = parse(text, { maxAliasCount: 20 })
    return isJsonObject(document) ? document : null
  } catch {
    return null
  }
}

/** Converts a manifest's keys to the provider's names. */
function renameKeys(value: Json, type: string, depth: number): Json {
  if (depth > MAX_DEPTH) return null
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, type, depth + 1))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = providerName(key, type)
      return [name, FREE.has(name) ? inner : renameKeys(inner, type, depth + 1)]
    }),
  )
}

function providerName(key: string, type: string): string {
  const snake = toSnakeCase(key)
  // Only in a network policy did the provider keep the plural.
  if (snake === 'ports' && type === 'kubernetes_network_policy_v1') return snake
  return SINGULAR.get(snake) ?? snake
}

/** Manifest kinds that have a resource type. */
const KINDS = new Set(
  wordsOf(`
    Pod Deployment DaemonSet StatefulSet ReplicationController Job CronJob Service Ingress NetworkPolicy StorageClass
    Role ClusterRole RoleBinding ClusterRoleBinding ConfigMap Secret`),
)

/** Returns the resource type of a kind; undefined when there is none. */
const typeOfKind = (kind: string) => (KINDS.has(kind) ? `kubernetes_${toSnakeCase(kind)}_v1` : undefined)

const toSnakeCase = (name: string) => name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
