import { CLASSES } from '../classes.ts'
import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'
import { CLUSTER_BINDINGS, CLUSTER_ROLES, CRON_JOBS, PODS, TEMPLATED, typesOfKinds } from './types.ts'

/** Where the pod stands in each kind of workload. */
const SPECS: readonly [types: string, path: string][] = [
  [PODS.join(','), 'spec'],
  [TEMPLATED.join(','), 'spec.template.spec'],
  [CRON_JOBS.join(','), 'spec.job_template.spec.template.spec'],
]
/** Makes the rows of a pod's argument; `@` in a condition stands for the path of the pod. */
const ofPods = (path: string, faults: string, condition = ''): string =>
  SPECS.map(([types, pod]) => `${types} ${pod}.${path} ${faults} ${condition.replaceAll('@', pod)}`).join('\n')
/** The same for its containers, also those that run before the others. */
const ofContainers = (path: string, faults: string, condition = ''): string =>
  ['container', 'init_container?'].map((kind) => ofPods(`${kind}.${path}`, faults, condition)).join('\n')

const SECURITY = 'https://kubernetes.io/docs/tasks/configure-pod-container/security-context/'
const ROLES = 'https://kubernetes.io/docs/concepts/security/rbac-good-practices/'

export const kubernetesTable: Rule[] = tableRules(
  'kubernetes',
  `
[ENCRYPTION]
# The volume's storage encrypts it; only storage class parameters can switch that off.
https://kubernetes.io/docs/concepts/storage/storage-classes/#aws-ebs
${typesOfKinds('storage_class')} parameters.encrypted false

[PLAIN_INGRESS]
https://kubernetes.io/docs/concepts/services-networking/ingress/#tls
${typesOfKinds('ingress')} spec.tls unset-inside

[PRIVILEGED]
${SECURITY}
${ofContainers('security_context.privileged', 'true')}

[HOST_NAMESPACES]
https://kubernetes.io/docs/concepts/security/pod-security-standards/
${['host_network', 'host_pid', 'host_ipc'].map((key) => ofPods(key, 'true')).join('\n')}

[CAPABILITY]
https://man7.org/linux/man-pages/man7/capabilities.7.html
${ofContainers('security_context.capabilities.add', 'ALL,CAP_ALL,*SYS_ADMIN,*SYS_MODULE,*SYS_PTRACE,*NET_ADMIN,*DAC_READ_SEARCH,*SYS_RAWIO,*BPF')}

[HARDENING]
${SECURITY}
${ofContainers('security_context.allow_privilege_escalation', 'true|unset')}
${ofContainers('security_context.read_only_root_filesystem', 'false|unset')}
${ofContainers('security_context.run_as_non_root', 'false|unset-inside', 'if @.security_context.run_as_non_root!=true')}
${ofPods('security_context.run_as_non_root', 'false')}
${ofContainers('security_context.capabilities.drop', 'unset')}
https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/
${ofPods('automount_service_account_token', 'true|unset')}
https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
${ofContainers('resources.limits', 'unset')}
https://kubernetes.io/docs/concepts/containers/images/
${ofContainers('image', '*:latest')}

[AS_ROOT]
${SECURITY}
${ofContainers('security_context.run_as_user', '0')}
${ofPods('security_context.run_as_user', '0')}

[UNCONFINED]
https://kubernetes.io/docs/tutorials/security/seccomp/
${ofContainers('security_context.seccomp_profile.type', 'Unconfined')}
${ofPods('security_context.seccomp_profile.type', 'Unconfined')}

[CLUSTER_ADMIN]
${ROLES}
${CLUSTER_BINDINGS} role_ref.name cluster-admin

[NAMESPACE_ADMIN]
${ROLES}
${typesOfKinds('role_binding')} role_ref.name cluster-admin

[ESCALATION]
${ROLES}
${CLUSTER_ROLES} rule.verbs escalate,bind,impersonate
`,
  {
    ENCRYPTION: { ...CLASSES.ENCRYPTION, byDefault: undefined },
    PLAIN_INGRESS: {
      name: 'network.ingress-without-tls',
      title: 'Ingress without TLS',
      reason: 'Requests, cookies and passwords travel in clear.',
      fix: 'Add a tls block with a certificate.',
      severity: 'warning',
      says: 'is not there',
    },
    PRIVILEGED: {
      name: 'pod.privileged',
      title: 'Privileged container',
      reason: 'A process in it is root on the node, and from there on every pod of the node.',
      fix: 'Remove privileged, and add only the capabilities that are needed.',
      severity: 'error',
      says: 'is true',
    },
    HOST_NAMESPACES: {
      name: 'pod.host-namespaces',
      title: 'Network, processes or memory of the node',
      reason: 'The pod sees and reaches what network policies and isolation keep from others.',
      fix: 'Remove host_network, host_pid and host_ipc; publish through a service.',
      severity: 'warning',
      says: 'is true',
    },
    CAPABILITY: {
      name: 'pod.powerful-capability',
      title: 'Capability close to root',
      reason: 'With it a process can leave its container or read what is not its own.',
      fix: 'Drop ALL and add only what is needed.',
      severity: 'warning',
      says: 'is close to root',
    },
    HARDENING: {
      name: 'pod.unhardened',
      title: 'Container without the usual restrictions',
      reason:
        'A process that is taken over has more ways to go on: as root, with a writable file system, to more rights.',
      fix:
        'In security_context: run_as_non_root and read_only_root_filesystem true, allow_privilege_escalation false, ' +
        'capabilities dropped.',
      severity: 'info',
      told: 'once',
      says: 'leaves the container more than it needs',
    },
    AS_ROOT: {
      name: 'pod.root',
      title: 'Container that runs as root',
      reason: 'A flaw in the runtime or a mounted folder then leads to the node.',
      fix: 'Set run_as_user to a user of the image that is not 0.',
      severity: 'warning',
      says: 'runs the container as root',
    },
    UNCONFINED: {
      name: 'pod.unconfined',
      title: 'Container without a filter of system calls',
      reason: 'Every system call of the node is open to it, also those with known weaknesses.',
      fix: 'Use the profile RuntimeDefault.',
      severity: 'warning',
      says: 'switches the filter off',
    },
    CLUSTER_ADMIN: {
      name: 'rbac.cluster-admin',
      title: 'Administrator of the cluster',
      reason: 'The subject can do everything in every namespace and read every secret.',
      fix: 'Bind a role with the resources and verbs that are needed.',
      severity: 'error',
      says: 'binds the administrator of the cluster',
    },
    NAMESPACE_ADMIN: {
      name: 'rbac.namespace-admin',
      title: 'Administrator of a namespace',
      reason: 'The subject can do everything in the namespace, secrets included.',
      fix: 'Bind a role with the resources and verbs that are needed.',
      severity: 'warning',
      says: 'binds the administrator in a namespace',
    },
    ESCALATION: {
      name: 'rbac.escalation',
      title: 'Role that can give itself more',
      reason: 'With escalate, bind or impersonate a subject reaches permissions that it was not given.',
      fix: 'Leave these verbs to the administrators of the cluster.',
      severity: 'warning',
      says: 'leads to more permissions',
    },
  },
)
