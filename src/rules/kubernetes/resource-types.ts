/** Both resource types that the provider has for each kind: `pod` gives `kubernetes_pod` and `kubernetes_pod_v1`. */
export const typesOfKinds = (...names: string[]): string[] =>
  names.flatMap((name) => [`kubernetes_${name}`, `kubernetes_${name}_v1`])

/** The resource type for each kind of a manifest that has one. */
const TYPES: Record<string, string> = {
  Pod: 'kubernetes_pod_v1',
  Deployment: 'kubernetes_deployment_v1',
  DaemonSet: 'kubernetes_daemon_set_v1',
  StatefulSet: 'kubernetes_stateful_set_v1',
  ReplicationController: 'kubernetes_replication_controller_v1',
  Job: 'kubernetes_job_v1',
  CronJob: 'kubernetes_cron_job_v1',
  Service: 'kubernetes_service_v1',
  Ingress: 'kubernetes_ingress_v1',
  NetworkPolicy: 'kubernetes_network_policy_v1',
  StorageClass: 'kubernetes_storage_class_v1',
  Role: 'kubernetes_role_v1',
  ClusterRole: 'kubernetes_cluster_role_v1',
  RoleBinding: 'kubernetes_role_binding_v1',
  ClusterRoleBinding: 'kubernetes_cluster_role_binding_v1',
  ConfigMap: 'kubernetes_config_map_v1',
  Secret: 'kubernetes_secret_v1',
}

/** The resource type for the kind of a manifest; undefined when the provider has none. */
export const typeOfKind = (kind: string) => (Object.hasOwn(TYPES, kind) ? TYPES[kind] : undefined)
