import { wordsOf } from '../../base/text.ts'
import { type Statement, statementsIn } from '../policies/document.ts'
import { allowsAnyone } from '../policies/public.ts'
import { tokenAudience } from '../policies/tokens.ts'
import type { Rule, Subject } from '../rule.ts'
import { blocksOf, isAbsent, isUnknown, jsonAt, textOf } from '../view.ts'

/** Returns the statements of a policy of a resource, which says who may use it. */
const resourcePolicy = (subject: Subject, key: string): Statement[] => statementsIn(jsonAt(subject, key))

/** Types with a policy that states who may use the resource, without `aws_`. */
const RESOURCE_POLICIES = wordsOf(`
  acmpca_policy backup_vault_policy cloudsearch_domain_service_access_policy cloudwatch_event_bus_policy
  cloudwatch_log_delivery_destination_policy cloudwatch_log_destination_policy cloudwatch_log_resource_policy
  codeartifact_domain_permissions_policy codeartifact_repository_permissions_policy codebuild_resource_policy
  dynamodb_resource_policy ecr_registry_policy ecr_repository_policy ecrpublic_repository_policy efs_file_system_policy
  glacier_vault glacier_vault_lock glue_resource_policy kinesis_resource_policy kms_external_key kms_key kms_key_policy
  kms_replica_external_key kms_replica_key media_store_container_policy msk_cluster_policy networkfirewall_resource_policy
  oam_sink_policy organizations_resource_policy prometheus_resource_policy redshift_resource_policy
  redshiftserverless_resource_policy s3_access_point s3control_access_point_policy s3control_bucket_policy
  s3control_object_lambda_access_point_policy s3tables_table_bucket_policy s3tables_table_policy
  s3vectors_vector_bucket_policy sagemaker_model_package_group_policy schemas_registry_policy secretsmanager_secret
  secretsmanager_secret_policy ses_identity_policy sesv2_email_identity_policy sns_topic sns_topic_policy sqs_queue
  sqs_queue_policy vpclattice_auth_policy vpclattice_resource_policy xray_resource_policy`).map((type) => `aws_${type}`)
const POLICY_KEYS = [
  'policy',
  'access_policy',
  'resource_policy',
  'policy_document',
  'delivery_destination_policy',
  'content',
]
/** Types that name one principal instead. */
const PRINCIPALS = ['aws_cloudwatch_event_permission', 'aws_signer_signing_profile_permission']

/** Whom resources and roles let in by their own policies. */
export const awsResourcePolicyRules: Rule[] = [
  {
    id: 'aws.storage.public-bucket-policy',
    title: 'Bucket policy for everyone',
    reason: 'Anyone on the internet can do with the bucket what the statement allows.',
    fix: 'Name the principals, or serve public files through a distribution with an origin access control.',
    severity: 'error',
    types: ['aws_s3_bucket_policy', 'aws_s3_bucket'],
    message: 'A statement of the bucket policy allows everyone, without a condition that narrows who.',
    isBrokenBy: (subject) => allowsAnyone(resourcePolicy(subject, 'policy')),
  },
  {
    id: 'aws.iam.open-trust-policy',
    title: 'Role that anyone may assume',
    reason: 'Every AWS account in the world can take the permissions of the role.',
    fix: 'Name the accounts, roles or services that may assume it.',
    severity: 'critical',
    types: ['aws_iam_role'],
    message: 'The trust policy lets everyone assume the role.',
    isBrokenBy: (subject) => allowsAnyone(resourcePolicy(subject, 'assume_role_policy')),
  },
  {
    id: 'aws.iam.open-token-trust',
    title: 'Role for the tokens of every customer of an issuer',
    reason: 'GitHub, GitLab and others sign tokens for everyone: without the subject, anyone can take the role.',
    fix: 'Name the owner and the repository (the organization and the workspace) in a condition on the subject.',
    severity: 'critical',
    types: ['aws_iam_role'],
    message: 'The trust policy admits tokens of every customer of the issuer.',
    isBrokenBy: (subject) => tokenAudience(resourcePolicy(subject, 'assume_role_policy')) === 'everyone',
  },
  {
    id: 'aws.iam.wide-token-trust',
    title: 'Role for all tokens of a customer of an issuer',
    reason: 'Every repository of the organization, or every service account of the cluster, can take the role.',
    fix: 'Name the repository or the service account in a condition on the subject.',
    severity: 'warning',
    types: ['aws_iam_role'],
    check: (subject) => {
      const audience = tokenAudience(resourcePolicy(subject, 'assume_role_policy'))
      if (audience === 'customer')
        return ['The trust policy admits every token of an organization, a workspace or a cluster.']
      return audience === 'nobody'
        ? ['StringEquals takes the * of a subject literally; as a pattern it would admit every customer of the issuer.']
        : []
    },
  },
  {
    id: 'aws.iam.public-resource-policy',
    title: 'Resource policy for everyone',
    reason: 'Anyone with an AWS account, or without one, can do what the statement allows.',
    fix: 'Name the principals, or add a condition on the account, the organization or the source.',
    severity: 'error',
    types: [...RESOURCE_POLICIES, ...PRINCIPALS],
    message: 'A statement of the resource policy allows everyone, without a condition that narrows who.',
    isBrokenBy: (subject) =>
      POLICY_KEYS.some((key) => allowsAnyone(resourcePolicy(subject, key))) ||
      (PRINCIPALS.includes(subject.type) && textOf(subject, 'principal') === '*' && isAbsent(subject, 'condition')),
  },
  {
    id: 'aws.iam.public-lambda-permission',
    title: 'Function that anyone may invoke',
    reason: 'Without a source every AWS account can run the function at your cost.',
    fix: 'Set source_arn, source_account or principal_org_id, or name the principal.',
    severity: 'error',
    types: ['aws_lambda_permission', 'aws_lambda_layer_version_permission'],
    message: 'Every AWS account may use the function or the layer.',
    isBrokenBy: (subject) =>
      textOf(subject, 'principal') === '*' &&
      textOf(subject, 'function_url_auth_type') !== 'NONE' &&
      ['source_arn', 'source_account', 'principal_org_id', 'organization_id'].every((key) => isAbsent(subject, key)),
  },
  {
    id: 'aws.database.public-search-domain',
    title: 'Search domain open to everyone',
    reason: 'The indexes of the domain can be read and deleted by anyone on the internet.',
    fix: 'Place the domain in a VPC, or name principals or addresses in the access policy.',
    severity: 'error',
    types: ['aws_opensearch_domain', 'aws_elasticsearch_domain'],
    message: 'The access policy lets everyone use a domain that is not in a VPC.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'vpc_options').length === 0 &&
      !isUnknown(subject, 'vpc_options') &&
      allowsAnyone(resourcePolicy(subject, 'access_policies')),
  },
  {
    id: 'aws.storage.public-access-block-removed',
    title: 'Block of public access removed',
    reason: 'Without it a public policy or access list takes effect.',
    fix: 'Keep the block while the bucket exists.',
    severity: 'warning',
    types: ['aws_s3_bucket_public_access_block', 'aws_s3_account_public_access_block'],
    looksAt: 'change',
    message: 'The block of public access is deleted.',
    isBrokenBy: ({ action }) => action === 'delete',
  },
]
