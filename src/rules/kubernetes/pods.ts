import type { Rule, Subject, View } from '../rule.ts'
import { blocksAt, blocksOf, flagOf, textOf, textsOf } from '../view.ts'
import { typesOfKinds } from './manifest.ts'

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

export const kubernetesPodRules: Rule[] = [
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
]
