/** The resources of the sample account. */

export const ACCOUNT = '123456789012'
export const REGION = 'eu-central-1'
/** The region that keeps the index of all regions. */
export const AGGREGATOR_REGION = 'eu-west-1'

export interface CloudResource {
  arn: string
  type: string
  region: string
  owner: string
  tags: Record<string, string>
}

const resource = (type: string, name: string, tags: Record<string, string> = {}, owner = ACCOUNT): CloudResource => {
  const [service = ''] = type.split(':')
  const separator =
    { dynamodb: 'table/', lambda: 'function:', ssm: 'parameter/', iam: 'role/', ec2: 'network-interface/' }[service] ??
    ''
  const global = service === 's3' || service === 'iam'
  const region = global ? '' : REGION
  const account = service === 's3' ? '' : owner
  return {
    arn: `arn:aws:${service}:${region}:${account}:${separator}${name}`,
    type,
    region: global ? 'global' : REGION,
    owner,
    tags,
  }
}

/** The resources in the order of the index. The last five are managed by others, so the inventory leaves them out. */
export const RESOURCES: readonly CloudResource[] = [
  resource('sqs:queue', 'mail-outgoing', { service: 'mail' }),
  resource('sqs:queue', 'mail-dead-letter', { service: 'mail' }),
  resource('sqs:queue', 'invoices-incoming', { service: 'invoices' }),
  resource('sqs:queue', 'invoices-dead-letter', { service: 'invoices' }),
  resource('sns:topic', 'invoices-paid', { service: 'invoices' }),
  resource('dynamodb:table', 'invoices', { service: 'invoices' }),
  resource('s3:bucket', 'legacy-invoice-archive-123456789012'),
  resource('lambda:function', 'send-reminders'),
  resource('iam:role', 'aws-service-role/support.amazonaws.com/AWSServiceRoleForSupport'),
  resource('ec2:network-interface', 'eni-0a1b2c3d4e5f60718'),
  resource('dynamodb:table', 'autoscaled-sessions', { 'aws:cloudformation:stack-name': 'sessions' }),
  resource('lambda:function', 'cluster-webhook', { 'eks:cluster-name': 'shared' }),
  resource('sqs:queue', 'shared-from-partner', {}, '210987654321'),
]
