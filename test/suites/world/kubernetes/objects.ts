import type { Cluster, Json } from './cluster.ts'

/** Objects made in a cluster by hand: one of most kinds that a team has, in the namespace `shop`. */

export interface MadeObject {
  /** The address to which it is posted. */
  path: string
  apiVersion: string
  kind: string
  namespace: string | null
  name: string
  body: Json
  /** The provider's resource types that can hold it, without `kubernetes_`; every kind can be a manifest. */
  types: string[]
}

export const NAMESPACE = 'shop'
const labels = { app: 'web' }
const template = {
  metadata: { labels },
  spec: {
    containers: [{ name: 'web', image: 'registry.example.org/web:1', resources: { requests: { cpu: '10m' } } }],
  },
}
const oneOff = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } }
const webhook = (name: string) => ({
  webhooks: [
    {
      name: `${name}.example.org`,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Ignore',
      clientConfig: { url: 'https://webhook.example.org/check' },
      namespaceSelector: { matchLabels: { checked: 'by-nobody' } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    },
  ],
})

function made(
  apiVersion: string,
  kind: string,
  name: string,
  types: string[],
  body: Json,
  cluster = false,
): MadeObject {
  const namespace = cluster ? null : NAMESPACE
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const metadata = { ...(body.metadata as Json | undefined), name, ...(namespace && { namespace }) }
  const path = `${base}${namespace ? `/namespaces/${namespace}` : ''}/${pluralOf(kind)}`
  return { path, apiVersion, kind, namespace, name, types, body: { ...body, apiVersion, kind, metadata } }
}

function pluralOf(kind: string): string {
  const lower = kind.toLowerCase()
  if (lower === 'endpoints') return lower
  if (/[^e]y$/.test(lower)) return lower.replace(/y$/, 'ies')
  return /(s|x|ch)$/.test(lower) ? `${lower}es` : `${lower}s`
}

const RBAC = 'rbac.authorization.k8s.io/v1'
const reading = { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }] }
const bound = (kind: string) => ({
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: 'web' },
  subjects: [{ kind: 'ServiceAccount', name: 'web', namespace: NAMESPACE }],
})

/** Several have the same name, which tells nothing about what they are. */
export const WORKLOADS: MadeObject[] = [
  made('apps/v1', 'Deployment', 'web', ['deployment', 'deployment_v1'], {
    spec: { selector: { matchLabels: labels }, template },
  }),
  made('apps/v1', 'StatefulSet', 'web', ['stateful_set_v1'], {
    spec: { serviceName: 'web', selector: { matchLabels: labels }, template },
  }),
  made('apps/v1', 'DaemonSet', 'web', ['daemon_set_v1', 'daemonset'], {
    spec: { selector: { matchLabels: labels }, template },
  }),
  made('batch/v1', 'Job', 'web', ['job_v1'], { spec: { suspend: true, template: oneOff } }),
  made('batch/v1', 'CronJob', 'web', ['cron_job_v1'], {
    spec: { schedule: '0 3 * * *', suspend: true, jobTemplate: { spec: { template: oneOff } } },
  }),
  made('v1', 'Pod', 'single', ['pod_v1'], { spec: template.spec }),
  made('v1', 'ReplicationController', 'old', ['replication_controller_v1'], {
    spec: { replicas: 0, selector: { app: 'old' }, template: { ...template, metadata: { labels: { app: 'old' } } } },
  }),
]

const IN_NAMESPACE: MadeObject[] = [
  made('v1', 'Service', 'web', ['service', 'service_v1'], { spec: { selector: labels, ports: [{ port: 80 }] } }),
  made('v1', 'ConfigMap', 'web', ['config_map', 'config_map_v1'], { data: { colour: 'blue' } }),
  made('v1', 'Secret', 'web', ['secret_v1'], { stringData: { password: 'a word that must not be seen' } }),
  made('v1', 'ServiceAccount', 'web', ['service_account_v1'], {}),
  made('v1', 'LimitRange', 'web', ['limit_range_v1'], {
    spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '5Gi' } }] },
  }),
  made('v1', 'ResourceQuota', 'web', ['resource_quota_v1'], { spec: { hard: { 'count/secrets': '50' } } }),
  made('v1', 'PersistentVolumeClaim', 'web', ['persistent_volume_claim_v1'], {
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'slow', resources: { requests: { storage: '1Gi' } } },
  }),
  made('networking.k8s.io/v1', 'Ingress', 'web', ['ingress_v1'], {
    spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  }),
  made('networking.k8s.io/v1', 'NetworkPolicy', 'web', ['network_policy_v1'], {
    spec: { podSelector: { matchLabels: labels }, policyTypes: ['Ingress'] },
  }),
  made('policy/v1', 'PodDisruptionBudget', 'web', ['pod_disruption_budget_v1'], {
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  }),
  made(
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    'web',
    ['horizontal_pod_autoscaler_v2', 'horizontal_pod_autoscaler_v1'],
    {
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    },
  ),
  made(RBAC, 'Role', 'web', ['role_v1'], reading),
  made(RBAC, 'RoleBinding', 'web', ['role_binding_v1'], bound('Role')),
]

const OF_THE_CLUSTER: MadeObject[] = [
  made('v1', 'Namespace', NAMESPACE, ['namespace', 'namespace_v1'], {}, true),
  made(
    'v1',
    'PersistentVolume',
    'disk',
    ['persistent_volume_v1'],
    {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'none',
        hostPath: { path: '/data' },
      },
    },
    true,
  ),
  made(RBAC, 'ClusterRole', 'web', ['cluster_role_v1'], reading, true),
  made(RBAC, 'ClusterRoleBinding', 'web:readers', ['cluster_role_binding_v1'], bound('ClusterRole'), true),
  made('storage.k8s.io/v1', 'StorageClass', 'slow', ['storage_class_v1'], { provisioner: 'disk.example.org' }, true),
  made(
    'storage.k8s.io/v1',
    'CSIDriver',
    'disk.example.org',
    ['csi_driver_v1'],
    { spec: { attachRequired: false } },
    true,
  ),
  made(
    'networking.k8s.io/v1',
    'IngressClass',
    'edge',
    ['ingress_class_v1'],
    { spec: { controller: 'example.org/edge' } },
    true,
  ),
  made('node.k8s.io/v1', 'RuntimeClass', 'small', ['runtime_class_v1'], { handler: 'small' }, true),
  made('scheduling.k8s.io/v1', 'PriorityClass', 'urgent', ['priority_class_v1'], { value: 1000 }, true),
  made(
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration',
    'web',
    ['validating_webhook_configuration_v1'],
    webhook('validating'),
    true,
  ),
  made(
    'admissionregistration.k8s.io/v1',
    'MutatingWebhookConfiguration',
    'web',
    ['mutating_webhook_configuration_v1'],
    webhook('mutating'),
    true,
  ),
  made(
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy',
    'web',
    ['validating_admission_policy_v1'],
    {
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] },
          ],
        },
        validations: [{ expression: 'object.metadata.name != "forbidden"' }],
      },
    },
    true,
  ),
]

const GROUP = 'stable.example.org'
const DEFINITION = made(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  `crontabs.${GROUP}`,
  [],
  {
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'crontabs', singular: 'crontab', kind: 'CronTab' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties: { schedule: { type: 'string' } } } },
            },
          },
        },
      ],
    },
  },
  true,
)
const CUSTOM = made(`${GROUP}/v1`, 'CronTab', 'nightly', [], { spec: { schedule: '0 2 * * *' } })

export const OBJECTS: MadeObject[] = [...OF_THE_CLUSTER, ...IN_NAMESPACE, ...WORKLOADS, DEFINITION, CUSTOM]

export const idOf = ({ apiVersion, kind, namespace, name }: MadeObject): string =>
  `apiVersion=${apiVersion},kind=${kind},${namespace ? `namespace=${namespace},` : ''}name=${name}`

/** Makes them all. A kind that was just defined is served a moment later. */
export async function makeObjects(cluster: Cluster): Promise<void> {
  for (const { path, body } of OBJECTS) {
    for (let attempt = 0; ; attempt++) {
      try {
        await cluster.call('POST', path, body)
        break
      } catch (error) {
        if (attempt >= 120 || !/: 404 |not yet/.test(String(error))) throw error
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    }
  }
}
