/** Returns both provider types of each kind: `pod` gives `kubernetes_pod` and `kubernetes_pod_v1`. */
export const typesOfKinds = (...names: string[]): string[] =>
  names.flatMap((name) => [`kubernetes_${name}`, `kubernetes_${name}_v1`])

export const PODS = typesOfKinds('pod')
export const CRON_JOBS = typesOfKinds('cron_job')
/** Workloads with a template of their pods. */
export const TEMPLATED = [
  ...typesOfKinds('deployment', 'stateful_set', 'replication_controller', 'job'),
  'kubernetes_daemonset',
  'kubernetes_daemon_set',
  'kubernetes_daemon_set_v1',
]
export const CLUSTER_ROLES = typesOfKinds('cluster_role')
export const CLUSTER_BINDINGS = typesOfKinds('cluster_role_binding')
