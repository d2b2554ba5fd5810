/** The code of one service as a model would write it, and the same objects as they are posted. */

const container = `      container {
          name  = "web"
          image = "registry.example.org/web:1"
        }`

/** A deployment without machines never becomes ready, so nobody waits for it. */
export const deployment = (name: string, pod = '') => `resource "kubernetes_deployment_v1" "${name}" {
  metadata {
    name      = "${name}"
    namespace = "default"
  }
  spec {
    replicas = 2
    selector {
      match_labels = {
        app = "${name}"
      }
    }
    template {
      metadata {
        labels = {
          app = "${name}"
        }
      }
      spec {
${pod}  ${container}
      }
    }
  }
  wait_for_rollout = false
}
`
/** As the provider reads a pod for which nobody said it. */
export const AS_READ = `        automount_service_account_token = false
        enable_service_links            = false
`
export const service = (name: string) => `resource "kubernetes_service_v1" "${name}" {
  metadata {
    name      = "${name}"
    namespace = "default"
  }
  spec {
    selector = {
      app = "${name}"
    }
    port {
      port = 80
    }
  }
}
`
export const access = (name: string) => `resource "kubernetes_service_account_v1" "${name}" {
  metadata {
    name      = "${name}"
    namespace = "default"
  }
  automount_service_account_token = true
}

resource "kubernetes_role_v1" "${name}" {
  metadata {
    name      = "${name}"
    namespace = "default"
  }
  rule {
    api_groups = [""]
    resources  = ["pods"]
    verbs      = ["get", "list"]
  }
}

resource "kubernetes_role_binding_v1" "${name}" {
  metadata {
    name      = "${name}"
    namespace = "default"
  }
  role_ref {
    api_group = "rbac.authorization.k8s.io"
    kind      = "Role"
    name      = "${name}"
  }
  subject {
    kind      = "ServiceAccount"
    name      = "${name}"
    namespace = "default"
  }
}
`
export const GROUP = 'jobs.example.org'
export const DEFINITION = `resource "kubernetes_manifest" "definition" {
  manifest = {
    apiVersion = "apiextensions.k8s.io/v1"
    kind       = "CustomResourceDefinition"
    metadata = {
      name = "nightlies.${GROUP}"
    }
    spec = {
      group = "${GROUP}"
      scope = "Namespaced"
      names = {
        plural   = "nightlies"
        singular = "nightly"
        kind     = "Nightly"
      }
      versions = [{
        name    = "v1"
        served  = true
        storage = true
        schema = {
          openAPIV3Schema = {
            type = "object"
            properties = {
              spec = {
                type = "object"
                properties = {
                  schedule = {
                    type = "string"
                  }
                }
              }
            }
          }
        }
      }]
    }
  }
}
`
export const custom = (name: string) => `resource "kubernetes_manifest" "${name}" {
  manifest = {
    apiVersion = "${GROUP}/v1"
    kind       = "Nightly"
    metadata = {
      name      = "${name}"
      namespace = "default"
    }
    spec = {
      schedule = "0 2 * * *"
    }
  }
}
`
export const PATHS = {
  deployment: '/apis/apps/v1/namespaces/default/deployments',
  service: '/api/v1/namespaces/default/services',
  account: '/api/v1/namespaces/default/serviceaccounts',
  role: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
  binding: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
  custom: `/apis/${GROUP}/v1/namespaces/default/nightlies`,
}

/** The objects of that code, by hand. */
export function bodies(name: string): Record<keyof typeof PATHS, object> {
  const metadata = { name }
  const labels = { app: name }
  return {
    deployment: {
      metadata,
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'web', image: 'registry.example.org/web:1' }] },
        },
      },
    },
    service: { metadata, spec: { selector: labels, ports: [{ port: 80 }] } },
    account: { metadata, automountServiceAccountToken: true },
    role: { metadata, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }] },
    binding: {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
    },
    custom: { apiVersion: `${GROUP}/v1`, kind: 'Nightly', metadata, spec: { schedule: '0 2 * * *' } },
  }
}

/** Identifiers of the inventory, each with the address of its block. */
export const imports = (name: string): [address: string, id: string][] => [
  [`kubernetes_deployment_v1.${name}`, `apiVersion=apps/v1,kind=Deployment,namespace=default,name=${name}`],
  [`kubernetes_service_v1.${name}`, `apiVersion=v1,kind=Service,namespace=default,name=${name}`],
  [`kubernetes_service_account_v1.${name}`, `apiVersion=v1,kind=ServiceAccount,namespace=default,name=${name}`],
  [`kubernetes_role_v1.${name}`, `apiVersion=rbac.authorization.k8s.io/v1,kind=Role,namespace=default,name=${name}`],
  [
    `kubernetes_role_binding_v1.${name}`,
    `apiVersion=rbac.authorization.k8s.io/v1,kind=RoleBinding,namespace=default,name=${name}`,
  ],
  [`kubernetes_manifest.${name}`, `apiVersion=${GROUP}/v1,kind=Nightly,namespace=default,name=${name}`],
]
