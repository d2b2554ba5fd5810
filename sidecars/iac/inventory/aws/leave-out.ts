/** A resource as Resource Explorer reports it. */
export interface ExploredResource {
  arn: string
  type: string
  owner: string
  tagKeys: readonly string[]
}

const TYPES = ['ec2:network-interface']
const ARN_PARTS = [':role/aws-service-role/', ':role/aws-reserved/sso.amazonaws.com/']
/** Tags of what services of AWS and the controllers of clusters have made for themselves. */
const TAG_PREFIXES = [
  'aws:',
  'eks:',
  'kubernetes.io/',
  'k8s.io/',
  'alpha.eksctl.io/',
  'elbv2.k8s.aws/',
  'ingress.k8s.aws/',
  'service.k8s.aws/',
]

/** Whether nobody manages this resource by code in the account. Its tags are unknown where the view has none. */
export function leavesOut(resource: ExploredResource, account: string): boolean {
  return (
    resource.owner !== account ||
    TYPES.includes(resource.type) ||
    ARN_PARTS.some((part) => resource.arn.includes(part)) ||
    resource.tagKeys.some((key) => TAG_PREFIXES.some((prefix) => key.startsWith(prefix)))
  )
}
