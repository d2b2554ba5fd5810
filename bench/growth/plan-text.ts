/** Resources of one service: a network rule set, a role with two policies, a key, storage, a queue and a machine. */
const SERVICE = 10

type Values = Record<string, unknown>
interface Written {
  type: string
  values: Values
  references?: Record<string, string[]>
  unknown?: Values
  sensitive?: Values
}

/**
 * Writes a plan of services with rules, policies, references between blocks, secrets, unknown values, deletions,
 * replacements and drift, as `terraform show -json` prints it, and a text of the same plan.
 * @param size number of managed resources
 */
export function growingPlan(size: number): { json: string; text: string } {
  const written = Array.from({ length: size }, (_, index) => {
    const service = Math.floor(index / SERVICE)
    return { ...resourceOf(index % SERVICE, service), name: `s${service}_${index % SERVICE}`, index }
  })
  const addressOf = ({ type, name }: (typeof written)[number]) => `${type}.${name}`
  const resource_changes = written.map((resource) => ({
    address: addressOf(resource),
    mode: 'managed',
    type: resource.type,
    name: resource.name,
    provider_name: 'registry.terraform.io/hashicorp/aws',
    change: changeOf(resource),
  }))
  const json = JSON.stringify({
    format_version: '1.2',
    terraform_version: '1.11.4',
    variables: { stage: { value: 'production' } },
    resource_changes,
    resource_drift: resource_changes.filter((_, index) => index % 25 === 0),
    output_changes: { address: { actions: ['create'], before: null, after: '10.0.0.1', after_sensitive: false } },
    configuration: {
      provider_config: { aws: { name: 'aws', full_name: 'registry.terraform.io/hashicorp/aws' } },
      root_module: {
        outputs: { address: { expression: { references: ['aws_instance.s0_9.private_ip', 'aws_instance.s0_9'] } } },
        resources: written.map((resource) => ({
          address: addressOf(resource),
          mode: 'managed',
          type: resource.type,
          name: resource.name,
          expressions: Object.fromEntries([
            ...Object.keys(resource.values).map((key) => [key, { constant_value: 'x' }]),
            ...Object.entries(resource.references ?? {}).map(([key, references]) => [key, { references }]),
          ]),
        })),
      },
    },
    prior_state: {
      values: {
        root_module: {
          resources: written
            .filter(({ index }) => index % 3 !== 0)
            .map((resource) => ({ address: addressOf(resource), type: resource.type, values: resource.values })),
        },
      },
    },
  })
  const text = resource_changes.map(({ address, type, name, change }) => {
    const attributes = Object.entries(change.after ?? change.before ?? {})
    const lines = attributes.map(([key, value]) => `      + ${key.padEnd(12)} = ${JSON.stringify(value)}`)
    return `  # ${address} will be changed\n  + resource "${type}" "${name}" {\n${lines.join('\n')}\n    }\n`
  })
  return { json, text: text.join('\n') }
}

/** A third is new, most others change one value, some are replaced or destroyed. */
function changeOf({ index, values, unknown = {}, sensitive = {} }: Written & { index: number }) {
  const marks = { after_unknown: { arn: true, ...unknown }, before_sensitive: sensitive, after_sensitive: sensitive }
  const before = { ...values, tags: { owner: 'team', cost: 'old' } }
  if (index % 3 === 0) return { actions: ['create'], before: null, after: values, ...marks }
  if (index % 97 === 1) return { actions: ['delete'], before, after: null, ...marks, after_unknown: {} }
  if (index % 89 === 1)
    return { actions: ['delete', 'create'], before, after: values, ...marks, replace_paths: [['name']] }
  return { actions: ['update'], before, after: values, ...marks }
}

const policy = (service: number, principal?: Values) =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: Array.from({ length: 3 }, (_, at) => ({
      Effect: 'Allow',
      Action: ['s3:GetObject', 's3:ListBucket', 'sqs:SendMessage'].slice(0, at + 1),
      ...(principal ? { Principal: principal } : { Resource: `arn:aws:s3:::service-${service}-${at}/*` }),
    })),
  })

function resourceOf(kind: number, service: number): Written {
  const tags = { owner: 'team', cost: `c${service % 50}`, stage: 'production' }
  const at = (type: string, other: number, attribute = 'id') => [
    `${type}.s${service}_${other}.${attribute}`,
    `${type}.s${service}_${other}`,
  ]
  const port = (from: number) => ({
    ...{ from_port: from, to_port: from, protocol: 'tcp', cidr_blocks: [`10.${service % 250}.0.0/16`], self: false },
  })
  switch (kind) {
    case 0:
      return {
        type: 'aws_security_group',
        values: { name: `service-${service}`, ingress: [443, 8080, 9090].map(port), egress: [port(443)], tags },
      }
    case 1:
      return {
        type: 'aws_iam_role',
        values: {
          name: `service-${service}`,
          assume_role_policy: policy(service, { Service: 'ec2.amazonaws.com' }),
          tags,
        },
      }
    case 2:
    case 3:
      return {
        type: 'aws_iam_role_policy',
        values: { name: `service-${service}-${kind}`, policy: policy(service), tags },
        references: { role: at('aws_iam_role', 1) },
        unknown: { role: true },
      }
    case 4:
      return {
        type: 'aws_kms_key',
        values: {
          description: `keys of service ${service}`,
          enable_key_rotation: service % 2 === 0,
          policy: policy(service, { AWS: `arn:aws:iam::${String(100_000_000_000 + service)}:root` }),
          tags,
        },
      }
    case 5:
      return { type: 'aws_s3_bucket', values: { bucket: `service-${service}`, force_destroy: service % 7 === 0, tags } }
    case 6:
      return {
        type: 'aws_s3_bucket_public_access_block',
        values: { block_public_acls: true, block_public_policy: true, restrict_public_buckets: service % 5 !== 0 },
        references: { bucket: at('aws_s3_bucket', 5) },
        unknown: { bucket: true },
      }
    case 7:
      return {
        type: 'aws_sqs_queue',
        values: { name: `service-${service}`, visibility_timeout_seconds: 30, tags },
        references: { kms_master_key_id: at('aws_kms_key', 4, 'arn') },
        unknown: { kms_master_key_id: true },
      }
    case 8:
      return {
        type: 'aws_db_instance',
        values: { identifier: `service-${service}`, password: `planted-${service}-password`, port: 5432, tags },
        references: { vpc_security_group_ids: at('aws_security_group', 0) },
        sensitive: { password: true },
        unknown: { vpc_security_group_ids: true },
      }
    default:
      return {
        type: 'aws_instance',
        values: { ami: 'ami-0abc', instance_type: 'm7g.large', user_data: btoa(`#!/bin/sh\necho ${service}`), tags },
        references: {
          vpc_security_group_ids: at('aws_security_group', 0),
          iam_instance_profile: at('aws_iam_role', 1),
        },
        unknown: { vpc_security_group_ids: true },
      }
  }
}
