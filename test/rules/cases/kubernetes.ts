import { bad, type Case, fine } from '../support.ts'

const pod = (spec: unknown) => ({ spec: [{ template: [{ spec: [spec] }] }] })
const context = (security_context: unknown) => pod({ container: [{ name: 'a', security_context: [security_context] }] })
const hostPath = (path: string) => pod({ volume: [{ name: 'v', host_path: [{ path }] }] })
const binding = (role: string, name: string, kind = 'Group') => ({
  role_ref: [{ kind: 'ClusterRole', name: role }],
  subject: [{ kind, name }],
})
const rule = (api_groups: string[], resources: string[], verbs: string[], more = {}) => ({
  rule: [{ api_groups, resources, verbs, ...more }],
})
const balancer = (spec: unknown, annotations = {}) => ({
  metadata: [{ name: 'a', annotations }],
  spec: [{ type: 'LoadBalancer', ...Object(spec) }],
})
const port = (number: number) => ({ port: [{ port: number, protocol: 'TCP' }] })

const pods: Case[] = [
  bad('kubernetes.pod.privileged', 'deployment', 'kubernetes_deployment_v1', context({ privileged: true })),
  bad('kubernetes.pod.privileged', 'pod', 'kubernetes_pod', {
    spec: [{ init_container: [{ security_context: [{ privileged: true }] }] }],
  }),
  bad('kubernetes.pod.privileged', 'cron job', 'kubernetes_cron_job_v1', {
    spec: [
      {
        job_template: [
          { spec: [{ template: [{ spec: [{ container: [{ security_context: [{ privileged: true }] }] }] }] }] },
        ],
      },
    ],
  }),
  bad('kubernetes.pod.privileged', 'manifest', 'kubernetes_manifest', {
    manifest: {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      spec: { template: { spec: { containers: [{ name: 'a', securityContext: { privileged: true } }] } } },
    },
  }),
  bad('kubernetes.pod.privileged', 'YAML', 'kubectl_manifest', {
    yaml_body:
      'apiVersion: v1\nkind: Pod\nspec:\n  initContainers:\n    - securityContext:\n        privileged: true\n',
  }),
  fine('kubernetes.pod.privileged', 'YAML that is none', 'kubectl_manifest', { yaml_body: 'kind: Pod\n  - : [' }),
  fine('kubernetes.pod.privileged', 'no', 'kubernetes_deployment', context({ privileged: false })),
  bad(
    'kubernetes.pod.sensitive-host-path',
    'the runtime',
    'kubernetes_daemon_set_v1',
    hostPath('/var/run/docker.sock'),
  ),
  bad('kubernetes.pod.sensitive-host-path', 'all of it', 'kubernetes_daemonset', hostPath('/')),
  fine(
    'kubernetes.pod.sensitive-host-path',
    'a folder that begins alike',
    'kubernetes_deployment',
    hostPath('/etcetera'),
  ),
  bad('kubernetes.pod.sensitive-host-path', 'slashes at the end', 'kubernetes_deployment', hostPath('/etc//')),
  fine(
    'kubernetes.pod.sensitive-host-path',
    'slashes without end',
    'kubernetes_deployment',
    hostPath(`/mnt${'/'.repeat(500_000)}x`),
  ),
  bad('kubernetes.pod.host-path', 'a folder', 'kubernetes_stateful_set', hostPath('/mnt/data')),
  fine(
    'kubernetes.pod.host-path',
    'none',
    'kubernetes_stateful_set',
    pod({ volume: [{ name: 'v', empty_dir: [{}] }] }),
  ),
  bad('kubernetes.pod.host-namespaces', 'network', 'kubernetes_deployment', pod({ host_network: true })),
  bad('kubernetes.pod.host-namespaces', 'processes, in a manifest', 'kubernetes_manifest', {
    manifest: { kind: 'Pod', spec: { hostPID: true } },
  }),
  fine('kubernetes.pod.host-namespaces', 'none', 'kubernetes_deployment', pod({ host_network: false })),
  bad(
    'kubernetes.pod.powerful-capability',
    'ALL',
    'kubernetes_job',
    context({ capabilities: [{ add: ['CAP_SYS_ADMIN'] }] }),
  ),
  fine(
    'kubernetes.pod.powerful-capability',
    'a port',
    'kubernetes_job',
    context({ capabilities: [{ add: ['NET_BIND_SERVICE'], drop: ['ALL'] }] }),
  ),
]

const rbac: Case[] = [
  bad(
    'kubernetes.rbac.anonymous-subject',
    'anonymous',
    'kubernetes_cluster_role_binding',
    binding('view', 'system:anonymous', 'User'),
  ),
  bad(
    'kubernetes.rbac.anonymous-subject',
    'in a namespace',
    'kubernetes_role_binding_v1',
    binding('view', 'system:unauthenticated'),
  ),
  fine(
    'kubernetes.rbac.anonymous-subject',
    'what the cluster shows anyway',
    'kubernetes_cluster_role_binding',
    binding('system:public-info-viewer', 'system:unauthenticated'),
  ),
  bad(
    'kubernetes.rbac.whole-cluster-subject',
    'everyone',
    'kubernetes_cluster_role_binding_v1',
    binding('edit', 'system:serviceaccounts'),
  ),
  fine(
    'kubernetes.rbac.whole-cluster-subject',
    'a namespace',
    'kubernetes_cluster_role_binding_v1',
    binding('edit', 'system:serviceaccounts:ci'),
  ),
  bad(
    'kubernetes.rbac.cluster-admin',
    'a group',
    'kubernetes_cluster_role_binding',
    binding('cluster-admin', 'developers'),
  ),
  bad('kubernetes.rbac.cluster-admin', 'manifest', 'kubernetes_manifest', {
    manifest: {
      kind: 'ClusterRoleBinding',
      roleRef: { name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'ci' }],
    },
  }),
  fine('kubernetes.rbac.cluster-admin', 'view', 'kubernetes_cluster_role_binding', binding('view', 'developers')),
  bad('kubernetes.rbac.namespace-admin', 'a group', 'kubernetes_role_binding', binding('cluster-admin', 'developers')),
  fine('kubernetes.rbac.namespace-admin', 'edit', 'kubernetes_role_binding', binding('edit', 'developers')),
  bad('kubernetes.rbac.wildcard-cluster-role', 'everything', 'kubernetes_cluster_role', rule(['*'], ['*'], ['*'])),
  bad('kubernetes.rbac.wildcard-cluster-role', 'manifest', 'kubernetes_manifest', {
    manifest: { kind: 'ClusterRole', rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
  }),
  fine(
    'kubernetes.rbac.wildcard-cluster-role',
    'reading',
    'kubernetes_cluster_role_v1',
    rule(['*'], ['*'], ['get', 'list']),
  ),
  bad('kubernetes.rbac.wildcard-role', 'everything', 'kubernetes_role_v1', rule(['*'], ['*'], ['*'])),
  fine('kubernetes.rbac.wildcard-role', 'pods', 'kubernetes_role_v1', rule([''], ['pods'], ['*'])),
  bad(
    'kubernetes.rbac.escalation',
    'bind',
    'kubernetes_cluster_role',
    rule(['rbac.authorization.k8s.io'], ['roles'], ['bind']),
  ),
  fine(
    'kubernetes.rbac.escalation',
    'get',
    'kubernetes_cluster_role',
    rule(['rbac.authorization.k8s.io'], ['roles'], ['get']),
  ),
  bad('kubernetes.rbac.all-secrets', 'list', 'kubernetes_cluster_role', rule([''], ['secrets'], ['list'])),
  fine(
    'kubernetes.rbac.all-secrets',
    'one',
    'kubernetes_cluster_role',
    rule([''], ['secrets'], ['get'], { resource_names: ['tls'] }),
  ),
]

const network: Case[] = [
  bad('kubernetes.network.open-load-balancer', 'no ranges', 'kubernetes_service', balancer(port(443))),
  bad(
    'kubernetes.network.open-load-balancer',
    'all ranges',
    'kubernetes_service_v1',
    balancer({ ...port(443), load_balancer_source_ranges: ['0.0.0.0/0'] }),
  ),
  bad(
    'kubernetes.network.open-load-balancer',
    'an annotation that says no',
    'kubernetes_service',
    balancer(port(443), { 'service.beta.kubernetes.io/aws-load-balancer-internal': 'false' }),
  ),
  fine(
    'kubernetes.network.open-load-balancer',
    'an office',
    'kubernetes_service',
    balancer({ load_balancer_source_ranges: ['198.51.100.0/24'] }),
  ),
  fine('kubernetes.network.open-load-balancer', 'ranges known later', 'kubernetes_service', balancer(port(22)), {
    after_unknown: { spec: [{ load_balancer_source_ranges: [true] }] },
  }),
  fine(
    'kubernetes.network.open-load-balancer',
    'internal',
    'kubernetes_service',
    balancer(port(443), { 'networking.gke.io/load-balancer-type': 'Internal' }),
  ),
  fine('kubernetes.network.open-load-balancer', 'inside the cluster', 'kubernetes_service', {
    spec: [{ type: 'ClusterIP', ...port(22) }],
  }),
  bad('kubernetes.network.open-admin-port', 'SSH', 'kubernetes_service', balancer(port(22))),
  fine('kubernetes.network.open-admin-port', 'web', 'kubernetes_service', balancer(port(443))),
  bad('kubernetes.network.open-database-port', 'PostgreSQL, in a manifest', 'kubernetes_manifest', {
    manifest: { kind: 'Service', spec: { type: 'LoadBalancer', ports: [{ port: 5432 }] } },
  }),
  fine(
    'kubernetes.network.open-database-port',
    'internal',
    'kubernetes_service',
    balancer(port(5432), { 'service.beta.kubernetes.io/azure-load-balancer-internal': 'true' }),
  ),
  bad('kubernetes.network.open-other-port', '8080', 'kubernetes_service', balancer(port(8080))),
  fine('kubernetes.network.open-other-port', 'web', 'kubernetes_service', balancer(port(80))),
  bad('kubernetes.network.ingress-without-tls', 'none', 'kubernetes_ingress_v1', {
    spec: [{ rule: [{ host: 'a.example.com' }], tls: [] }],
  }),
  fine('kubernetes.network.ingress-without-tls', 'a certificate', 'kubernetes_ingress', {
    spec: [{ tls: [{ secret_name: 'tls' }] }],
  }),
  fine(
    'kubernetes.network.ingress-without-tls',
    'known later',
    'kubernetes_ingress_v1',
    { spec: [{}] },
    { after_unknown: { spec: [{ tls: true }] } },
  ),
  bad('kubernetes.network.open-policy', 'everyone', 'kubernetes_network_policy_v1', {
    spec: [{ ingress: [{ from: [{ ip_block: [{ cidr: '0.0.0.0/0' }] }] }] }],
  }),
  fine('kubernetes.network.open-policy', 'a port', 'kubernetes_network_policy', {
    spec: [{ ingress: [{ ports: [{ port: '443' }], from: [{ ip_block: [{ cidr: '0.0.0.0/0' }] }] }] }],
  }),
  bad('kubernetes.encryption.disabled', 'class', 'kubernetes_storage_class_v1', { parameters: { encrypted: 'false' } }),
  fine('kubernetes.encryption.disabled', 'class', 'kubernetes_storage_class', { parameters: { encrypted: 'true' } }),
]

export const kubernetesCases: Case[] = [...pods, ...rbac, ...network]
