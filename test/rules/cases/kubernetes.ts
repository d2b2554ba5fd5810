import { bad, type Case, fine } from '../support.ts'

const pod = (spec: unknown) => ({ spec: [{ template: [{ spec: [spec] }] }] })
/** A case of a rule for pods on a container of a resource of this type. */
const context = (make: typeof bad, rule: string, name: string, type: string, security_context: unknown) =>
  make(
    `kubernetes.pod.${rule}`,
    name,
    `kubernetes_${type}`,
    pod({ container: [{ name: 'a', security_context: [security_context] }] }),
  )
const hostPath = (make: typeof bad, rule: string, name: string, type: string, path: string) =>
  make(`kubernetes.pod.${rule}`, name, `kubernetes_${type}`, pod({ volume: [{ name: 'v', host_path: [{ path }] }] }))
const binding = (
  make: typeof bad,
  rule: string,
  name: string,
  type: string,
  role: string,
  subject: string,
  kind = 'Group',
) =>
  make(`kubernetes.rbac.${rule}`, name, `kubernetes_${type}`, {
    role_ref: [{ kind: 'ClusterRole', name: role }],
    subject: [{ kind, name: subject }],
  })
const role = (
  make: typeof bad,
  rule: string,
  name: string,
  type: string,
  api_groups: string[],
  resources: string[],
  verbs: string[],
  more = {},
) => make(`kubernetes.rbac.${rule}`, name, `kubernetes_${type}`, { rule: [{ api_groups, resources, verbs, ...more }] })
const balancer = (spec: unknown, annotations = {}) => ({
  metadata: [{ name: 'a', annotations }],
  spec: [{ type: 'LoadBalancer', ...Object(spec) }],
})
const service = (make: typeof bad, rule: string, name: string, ...parts: Parameters<typeof balancer>) =>
  make(`kubernetes.network.${rule}`, name, 'kubernetes_service', balancer(...parts))
const port = (number: number) => ({ port: [{ port: number, protocol: 'TCP' }] })

const pods: Case[] = [
  context(bad, 'privileged', 'deployment', 'deployment_v1', { privileged: true }),
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
  context(fine, 'privileged', 'no', 'deployment', { privileged: false }),
  hostPath(bad, 'sensitive-host-path', 'the runtime', 'daemon_set_v1', '/var/run/docker.sock'),
  hostPath(bad, 'sensitive-host-path', 'all of it', 'daemonset', '/'),
  hostPath(fine, 'sensitive-host-path', 'a folder that begins alike', 'deployment', '/etcetera'),
  hostPath(bad, 'sensitive-host-path', 'slashes at the end', 'deployment', '/etc//'),
  hostPath(fine, 'sensitive-host-path', 'slashes without end', 'deployment', `/mnt${'/'.repeat(500_000)}x`),
  hostPath(bad, 'host-path', 'a folder', 'stateful_set', '/mnt/data'),
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
  context(bad, 'powerful-capability', 'ALL', 'job', { capabilities: [{ add: ['CAP_SYS_ADMIN'] }] }),
  context(fine, 'powerful-capability', 'a port', 'job', {
    capabilities: [{ add: ['NET_BIND_SERVICE'], drop: ['ALL'] }],
  }),
]

const rbac: Case[] = [
  binding(bad, 'anonymous-subject', 'anonymous', 'cluster_role_binding', 'view', 'system:anonymous', 'User'),
  binding(bad, 'anonymous-subject', 'in a namespace', 'role_binding_v1', 'view', 'system:unauthenticated'),
  binding(
    fine,
    'anonymous-subject',
    'what the cluster shows anyway',
    'cluster_role_binding',
    'system:public-info-viewer',
    'system:unauthenticated',
  ),
  binding(bad, 'whole-cluster-subject', 'everyone', 'cluster_role_binding_v1', 'edit', 'system:serviceaccounts'),
  binding(fine, 'whole-cluster-subject', 'a namespace', 'cluster_role_binding_v1', 'edit', 'system:serviceaccounts:ci'),
  binding(bad, 'cluster-admin', 'a group', 'cluster_role_binding', 'cluster-admin', 'developers'),
  bad('kubernetes.rbac.cluster-admin', 'manifest', 'kubernetes_manifest', {
    manifest: {
      kind: 'ClusterRoleBinding',
      roleRef: { name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'ci' }],
    },
  }),
  binding(fine, 'cluster-admin', 'view', 'cluster_role_binding', 'view', 'developers'),
  binding(bad, 'namespace-admin', 'a group', 'role_binding', 'cluster-admin', 'developers'),
  binding(fine, 'namespace-admin', 'edit', 'role_binding', 'edit', 'developers'),
  role(bad, 'wildcard-cluster-role', 'everything', 'cluster_role', ['*'], ['*'], ['*']),
  bad('kubernetes.rbac.wildcard-cluster-role', 'manifest', 'kubernetes_manifest', {
    manifest: { kind: 'ClusterRole', rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
  }),
  role(fine, 'wildcard-cluster-role', 'reading', 'cluster_role_v1', ['*'], ['*'], ['get', 'list']),
  role(bad, 'wildcard-role', 'everything', 'role_v1', ['*'], ['*'], ['*']),
  role(fine, 'wildcard-role', 'pods', 'role_v1', [''], ['pods'], ['*']),
  role(bad, 'escalation', 'bind', 'cluster_role', ['rbac.authorization.k8s.io'], ['roles'], ['bind']),
  role(fine, 'escalation', 'get', 'cluster_role', ['rbac.authorization.k8s.io'], ['roles'], ['get']),
  role(bad, 'all-secrets', 'list', 'cluster_role', [''], ['secrets'], ['list']),
  role(fine, 'all-secrets', 'one', 'cluster_role', [''], ['secrets'], ['get'], { resource_names: ['tls'] }),
]

const network: Case[] = [
  service(bad, 'open-load-balancer', 'no ranges', port(443)),
  bad(
    'kubernetes.network.open-load-balancer',
    'all ranges',
    'kubernetes_service_v1',
    balancer({ ...port(443), load_balancer_source_ranges: ['0.0.0.0/0'] }),
  ),
  service(bad, 'open-load-balancer', 'an annotation that says no', port(443), {
    'service.beta.kubernetes.io/aws-load-balancer-internal': 'false',
  }),
  service(fine, 'open-load-balancer', 'an office', { load_balancer_source_ranges: ['198.51.100.0/24'] }),
  fine('kubernetes.network.open-load-balancer', 'ranges known later', 'kubernetes_service', balancer(port(22)), {
    after_unknown: { spec: [{ load_balancer_source_ranges: [true] }] },
  }),
  service(fine, 'open-load-balancer', 'internal', port(443), { 'networking.gke.io/load-balancer-type': 'Internal' }),
  fine('kubernetes.network.open-load-balancer', 'inside the cluster', 'kubernetes_service', {
    spec: [{ type: 'ClusterIP', ...port(22) }],
  }),
  service(bad, 'open-admin-port', 'SSH', port(22)),
  service(fine, 'open-admin-port', 'web', port(443)),
  bad('kubernetes.network.open-database-port', 'PostgreSQL, in a manifest', 'kubernetes_manifest', {
    manifest: { kind: 'Service', spec: { type: 'LoadBalancer', ports: [{ port: 5432 }] } },
  }),
  service(fine, 'open-database-port', 'internal', port(5432), {
    'service.beta.kubernetes.io/azure-load-balancer-internal': 'true',
  }),
  service(bad, 'open-other-port', '8080', port(8080)),
  service(fine, 'open-other-port', 'web', port(80)),
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

const containers: Case[] = [
  bad('kubernetes.pod.unhardened', 'nothing said', 'kubernetes_pod', {
    spec: [{ container: [{ image: 'a:1' }] }],
  }),
  fine('kubernetes.pod.unhardened', 'all said', 'kubernetes_deployment_v1', {
    spec: [
      {
        template: [
          {
            spec: [
              {
                automount_service_account_token: false,
                container: [
                  {
                    image: 'a:1',
                    resources: [{ limits: { cpu: '1' } }],
                    security_context: [
                      {
                        allow_privilege_escalation: false,
                        read_only_root_filesystem: true,
                        run_as_non_root: true,
                        capabilities: [{ drop: ['ALL'] }],
                      },
                    ],
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
  }),
  bad('kubernetes.pod.root', 'a container', 'kubernetes_pod', {
    spec: [{ container: [{ security_context: [{ run_as_user: '0' }] }] }],
  }),
  fine('kubernetes.pod.root', 'another user', 'kubernetes_pod', {
    spec: [{ container: [{ security_context: [{ run_as_user: '1000' }] }] }],
  }),
  bad('kubernetes.pod.unconfined', 'a pod', 'kubernetes_pod', {
    spec: [{ security_context: [{ seccomp_profile: [{ type: 'Unconfined' }] }] }],
  }),
  fine('kubernetes.pod.unconfined', 'the default', 'kubernetes_pod', {
    spec: [{ security_context: [{ seccomp_profile: [{ type: 'RuntimeDefault' }] }] }],
  }),
]

export const kubernetesCases: Case[] = [...pods, ...rbac, ...network, ...containers]
