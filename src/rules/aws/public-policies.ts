import { allowancesOf, allowsAnyone } from '../policy-document.ts'
import type { Rule } from '../rule.ts'
import { blocksOf, isAbsent, isUnknown, textOf } from '../view.ts'

/** Types with a policy that states who may use the resource. */
const RESOURCE_POLICIES = [
  'aws_sqs_queue',
  'aws_sqs_queue_policy',
  'aws_sns_topic',
  'aws_sns_topic_policy',
  'aws_kms_key',
  'aws_kms_key_policy',
  'aws_kms_external_key',
  'aws_ecr_repository_policy',
  'aws_secretsmanager_secret',
  'aws_secretsmanager_secret_policy',
  'aws_efs_file_system_policy',
  'aws_backup_vault_policy',
  'aws_glacier_vault',
  'aws_cloudwatch_event_bus_policy',
  'aws_dynamodb_resource_policy',
  'aws_kinesis_resource_policy',
  'aws_s3_access_point',
  'aws_s3control_access_point_policy',
]
const POLICY_KEYS = ['policy', 'access_policy', 'resource_policy']

export const awsPublicPolicyRules: Rule[] = [
  {
    id: 'aws.storage.public-bucket-policy',
    title: 'Bucket policy for everyone',
    reason: 'Anyone on the internet can do with the bucket what the statement allows.',
    fix: 'Name the principals, or serve public files through a distribution with an origin access control.',
    severity: 'error',
    cloud: 'aws',
    types: ['aws_s3_bucket_policy', 'aws_s3_bucket'],
    check: (subject) =>
      allowancesOf(subject, 'policy').some(allowsAnyone)
        ? ['A statement of the bucket policy allows everyone, without a condition.']
        : [],
  },
  {
    id: 'aws.iam.open-trust-policy',
    title: 'Role that anyone may assume',
    reason: 'Every AWS account in the world can take the permissions of the role.',
    fix: 'Name the accounts, roles or services that may assume it.',
    severity: 'critical',
    cloud: 'aws',
    types: ['aws_iam_role'],
    check: (subject) =>
      allowancesOf(subject, 'assume_role_policy').some(allowsAnyone)
        ? ['The trust policy lets everyone assume the role.']
        : [],
  },
  {
    id: 'aws.iam.public-resource-policy',
    title: 'Resource policy for everyone',
    reason: 'Anyone with an AWS account, or without one, can do what the statement allows.',
    fix: 'Name the principals, or add a condition on the account, the organization or the source.',
    severity: 'error',
    cloud: 'aws',
    types: RESOURCE_POLICIES,
    check: (subject) =>
      POLICY_KEYS.some((key) => allowancesOf(subject, key).some(allowsAnyone))
        ? ['A statement of the resource policy allows everyone, without a condition.']
        : [],
  },
  {
    id: 'aws.iam.public-lambda-permission',
    title: 'Function that anyone may invoke',
    reason: 'Without a source every AWS account can run the function at your cost.',
    fix: 'Set source_arn, source_account or principal_org_id, or name the principal.',
    severity: 'error',
    cloud: 'aws',
    types: ['aws_lambda_permission'],
    check: (subject) =>
      textOf(subject, 'principal') === '*' &&
      textOf(subject, 'function_url_auth_type') !== 'NONE' &&
      ['source_arn', 'source_account', 'principal_org_id'].every((key) => isAbsent(subject, key))
        ? ['Every AWS account may invoke the function.']
        : [],
  },
  {
    id: 'aws.compute.public-function-url',
    title: 'Function URL without authorization',
    reason: 'Anyone who knows the address runs the function.',
    fix: 'Use AWS_IAM, or put a gateway with authorization in front of it.',
    severity: 'warning',
    cloud: 'aws',
    types: ['aws_lambda_function_url'],
    check: (subject) =>
      textOf(subject, 'authorization_type') === 'NONE' ? ['The function URL asks for no authorization.'] : [],
  },
  {
    id: 'aws.database.public-search-domain',
    title: 'Search domain open to everyone',
    reason: 'The indexes of the domain can be read and deleted by anyone on the internet.',
    fix: 'Place the domain in a VPC, or name principals or addresses in the access policy.',
    severity: 'error',
    cloud: 'aws',
    types: ['aws_opensearch_domain', 'aws_elasticsearch_domain'],
    check: (subject) =>
      blocksOf(subject, 'vpc_options').length === 0 &&
      !isUnknown(subject, 'vpc_options') &&
      allowancesOf(subject, 'access_policies').some(allowsAnyone)
        ? ['The access policy lets everyone use a domain that is not in a VPC.']
        : [],
  },
]
