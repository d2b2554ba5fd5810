import type { Rule, Subject, View } from '../rule.ts'
import { blocksAt, blocksOf, textOf } from '../view.ts'
import { CRON_JOBS, PODS, TEMPLATED } from './types.ts'

const types = [...PODS, ...TEMPLATED, ...CRON_JOBS]

/** Returns the pod specifications of a workload. */
function podsOf(subject: Subject): View[] {
  if (PODS.includes(subject.type)) return blocksOf(subject, 'spec')
  return blocksAt(
    subject,
    CRON_JOBS.includes(subject.type) ? 'spec.job_template.spec.template.spec' : 'spec.template.spec',
  )
}

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

/** Folders of the node in pods. */
export const hostPathRules: Rule[] = [
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
]
