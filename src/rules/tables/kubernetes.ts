import type { Rule } from '../rule.ts'
import { type FaultClass, tableRules } from '../table.ts'
import { ENCRYPTION } from './classes.ts'

/** The volume's storage encrypts it; only storage class parameters can switch that off. */
const encryption = `
https://kubernetes.io/docs/concepts/storage/storage-classes/#aws-ebs
kubernetes_storage_class,kubernetes_storage_class_v1 parameters.encrypted false
`

const both = (...kinds: string[]) => kinds.flatMap((kind) => [`kubernetes_${kind}`, `kubernetes_${kind}_v1`]).join(',')
/** Where the pod stands in each kind of workload. */
const PODS: readonly [types: string, path: string][] = [
  [both('pod'), 'spec'],
  [
    `${both('deployment', 'stateful_set', 'replication_controller', 'job', 'daemon_set')},kubernetes_daemonset`,
    'spec.template.spec',
  ],
  [both('cron_job'), 'spec.job_template.spec.template.spec'],
]
/** Makes the rows of a pod's argument; `@` in a condition stands for the path of the pod. */
const ofPods = (path: string, faults: string, condition = ''): string =>
  PODS.map(([types, pod]) => `${types} ${pod}.${path} ${faults} ${condition.replaceAll('@', pod)}`).join('\n')
/** The same for its containers, also those that run before the others. */
const ofContainers = (path: string, faults: string, condition = ''): string =>
  ['container', 'init_container?'].map((kind) => ofPods(`${kind}.${path}`, faults, condition)).join('\n')

const SECURITY = 'https://kubernetes.io/docs/tasks/configure-pod-container/security-context/'

const HARDENING: FaultClass = {
  name: 'pod.unhardened',
  title: 'Container without the usual restrictions',
  reason: 'A process that is taken over has more ways to go on: as root, with a writable file system, to more rights.',
  fix:
    'In security_context: run_as_non_root and read_only_root_filesystem true, allow_privilege_escalation false, ' +
    'capabilities dropped.',
  severity: 'info',
  told: 'once',
  says: 'leaves the container more than it needs',
}
const hardening = `
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
`

const AS_ROOT: FaultClass = {
  name: 'pod.root',
  title: 'Container that runs as root',
  reason: 'A flaw in the runtime or a mounted folder then leads to the node.',
  fix: 'Set run_as_user to a user of the image that is not 0.',
  severity: 'warning',
  says: 'runs the container as root',
}
const asRoot = `
${SECURITY}
${ofContainers('security_context.run_as_user', '0')}
${ofPods('security_context.run_as_user', '0')}
`

const UNCONFINED: FaultClass = {
  name: 'pod.unconfined',
  title: 'Container without a filter of system calls',
  reason: 'Every system call of the node is open to it, also those with known weaknesses.',
  fix: 'Use the profile RuntimeDefault.',
  severity: 'warning',
  says: 'switches the filter off',
}
const unconfined = `
https://kubernetes.io/docs/tutorials/security/seccomp/
${ofContainers('security_context.seccomp_profile.type', 'Unconfined')}
${ofPods('security_context.seccomp_profile.type', 'Unconfined')}
`

export const kubernetesTables: Rule[] = [
  ...tableRules('kubernetes', { ...ENCRYPTION, byDefault: undefined }, encryption),
  ...tableRules('kubernetes', HARDENING, hardening),
  ...tableRules('kubernetes', AS_ROOT, asRoot),
  ...tableRules('kubernetes', UNCONFINED, unconfined),
]
