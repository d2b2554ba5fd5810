import type { Cloud } from '../../base/vocabulary.ts'

/** A function that returns the kind of an identifier, or null when it does not tell. */
type KindOf = (id: string) => string | null

/** Turns `arn:<partition>:<service>:<region>:<account>:<type>/<name>` into `<service>:<type>`; a bucket has no type. */
const awsKind: KindOf = (id) => {
  const [, service, resource = ''] = /^arn:[^:]*:([^:]+):[^:]*:[^:]*:(.*)$/s.exec(id) ?? []
  if (!service) return null
  const type = /^([a-z][a-z0-9-]*)[:/]/i.exec(resource)?.[1]
  return type ? `${service}:${type}` : service
}

/** Turns `…/providers/<namespace>/<type>/<name>/<type>/<name>` into `<namespace>/<type>/<type>`. */
const azureKind: KindOf = (id) => {
  const parts = id.split('/')
  const provider = parts.findLastIndex((part) => part.toLowerCase() === 'providers')
  if (provider === -1) {
    if (/^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+$/i.test(id)) return 'Microsoft.Resources/resourceGroups'
    return /^\/subscriptions\/[^/]+$/i.test(id) ? 'Microsoft.Resources/subscriptions' : null
  }
  const [namespace, ...rest] = parts.slice(provider + 1)
  const types = rest.filter((_, index) => index % 2 === 0)
  return namespace && types.length > 0 ? [namespace, ...types].join('/') : null
}

/** Turns `projects/<project>/zones/<zone>/instances/<name>` into `instances`; IAM bindings are a kind of their own. */
const gcpKind: KindOf = (id) => {
  if (/^[^ ]+ [^ ]*roles\/[^ ]+ [^ ]+$/.test(id)) return 'IAM binding'
  return id.split('/').at(-2) || null
}

/** Turns `ocid1.<type>.<realm>.…` into `<type>`. */
const ociKind: KindOf = (id) => /^ocid\d+\.([^.]+)\./.exec(id)?.[1] ?? null

/** Turns `apiVersion=apps/v1,kind=Deployment,…` into `apps/v1/Deployment`. */
const kubernetesKind: KindOf = (id) => {
  const [, version, kind] = /^apiVersion=([^,]+),kind=([^,]+),/.exec(id) ?? []
  return version && kind ? `${version}/${kind}` : null
}

const KINDS: Record<Cloud, KindOf> = {
  aws: awsKind,
  azure: azureKind,
  gcp: gcpKind,
  oci: ociKind,
  kubernetes: kubernetesKind,
}

/** Returns the cloud's kind of a resource from its identifier; null when it does not tell. */
export const resourceKind = (provider: Cloud, id: string): string | null => KINDS[provider](id)
