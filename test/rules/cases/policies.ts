import { bad, type Case, configured, fine, reference } from '../support.ts'

const policy = (...statements: unknown[]) => JSON.stringify({ Version: '2012-10-17', Statement: statements })
const open = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::b/*' }

const bucket = (make: typeof bad, name: string, Condition: unknown, ...others: unknown[]) =>
  make('aws.storage.public-bucket-policy', name, 'aws_s3_bucket_policy', {
    policy: policy({ ...open, Condition }, ...others),
  })
const ofOrganization = (operator: string, value: unknown = 'o-a1b2c3d4e5') => ({
  [operator]: { 'aws:PrincipalOrgID': value },
})
const denied = (Condition: unknown, more = {}) => ({ ...open, Effect: 'Deny', Action: 's3:*', Condition, ...more })

/** A condition counts when it narrows who calls or from where. */
const conditions: Case[] = [
  bucket(bad, 'a quantifier that holds without the key', ofOrganization('ForAllValues:StringEquals')),
  bucket(bad, 'IfExists', ofOrganization('StringEqualsIfExists')),
  bucket(bad, 'everyone but an organization', ofOrganization('StringNotEquals')),
  bucket(bad, 'any organization', ofOrganization('StringLike', 'o-*')),
  bucket(bad, 'a key that is there', { Null: { 'aws:PrincipalOrgID': 'false' } }),
  bucket(bad, 'a key that is not there', { Null: { 'aws:PrincipalOrgID': 'true' } }),
  bucket(bad, 'all of IPv4', { IpAddress: { 'aws:SourceIp': '0.0.0.0/0' } }),
  bucket(bad, 'one network, and all of IPv6', { IpAddress: { 'aws:SourceIp': ['198.51.100.0/24', '::/0'] } }),
  bucket(bad, 'every principal', { ArnLike: { 'aws:PrincipalArn': '*' } }),
  bucket(bad, 'a role of every account', { ArnLike: { 'aws:PrincipalArn': 'arn:aws:iam::*:role/deploy' } }),
  bucket(bad, 'a topic of every account', { ArnEquals: { 'aws:SourceArn': 'arn:aws:sns:*:*:*' } }),
  bucket(bad, 'every bucket', { ArnLike: { 'aws:SourceArn': 'arn:aws:s3:::*' } }),
  bucket(bad, 'every endpoint', { StringLike: { 'aws:SourceVpce': 'vpce-*' } }),
  bucket(bad, 'a tag that everyone can set in an account of their own', {
    StringEquals: { 'aws:PrincipalTag/team': 'data' },
  }),
  bucket(bad, 'a private address', { IpAddress: { 'aws:VpcSourceIp': '10.0.0.0/8' } }),
  bucket(bad, 'a second factor', { Bool: { 'aws:MultiFactorAuthPresent': 'true' } }),
  bucket(bad, 'a region', { StringEquals: { 'aws:RequestedRegion': 'eu-west-1' } }),
  bucket(bad, 'a session name', { StringLike: { 'aws:userid': '*:deploy' } }),
  bucket(bad, 'no service', { Bool: { 'aws:PrincipalIsAWSService': 'false' } }),
  bucket(fine, 'an organization', ofOrganization('StringEquals')),
  bucket(fine, 'an organization by a pattern', ofOrganization('StringLike', 'o-a1b2*')),
  bucket(fine, 'a quantifier, and the key is there', {
    ...ofOrganization('ForAllValues:StringEquals'),
    Null: { 'aws:PrincipalOrgID': 'false' },
  }),
  bucket(fine, 'one of several values', ofOrganization('ForAnyValue:StringLike', ['o-a1b2c3d4e5'])),
  bucket(fine, 'paths of an organization', {
    'ForAnyValue:StringLike': { 'aws:PrincipalOrgPaths': 'o-a1b2/*/ou-ab12/*' },
  }),
  bucket(fine, 'the account, which every request has', {
    StringEqualsIfExists: { 'aws:PrincipalAccount': '111122223333' },
  }),
  bucket(fine, 'the account of the bucket', {
    StringEquals: { 'aws:ResourceAccount': '$' + '{aws:PrincipalAccount}' },
  }),
  bucket(fine, 'the organization of the bucket', ofOrganization('StringEquals', '$' + '{aws:ResourceOrgID}')),
  bucket(fine, 'a network', { IpAddress: { 'aws:SourceIp': ['198.51.100.0/24'] } }),
  bucket(fine, 'the roles of an account', { ArnLike: { 'aws:PrincipalArn': 'arn:aws:iam::111122223333:role/*' } }),
  bucket(fine, 'a bucket', { ArnEquals: { 'aws:SourceArn': 'arn:aws:s3:::reports' } }),
  bucket(fine, 'sessions of a role', { StringLike: { 'aws:userid': 'AROAEXAMPLE:*' } }),
  bucket(fine, 'the access points of an account', {
    ArnLike: { 's3:DataAccessPointArn': 'arn:aws:s3:us-west-2:123456789012:accesspoint/*' },
  }),
  bucket(fine, 'a narrow condition beside a wide one', {
    ...ofOrganization('StringEquals'),
    Bool: { 'aws:SecureTransport': 'true' },
  }),
  bucket(fine, 'everyone else denied', {}, denied({ StringNotEquals: { 'aws:SourceVpce': 'vpce-1' } })),
  bucket(
    fine,
    'everyone else denied, but services for them',
    {},
    denied({ NotIpAddress: { 'aws:SourceIp': '198.51.100.0/24' }, Bool: { 'aws:ViaAWSService': 'false' } }),
  ),
  bucket(
    fine,
    'all others denied',
    {},
    denied(undefined, {
      Principal: undefined,
      NotPrincipal: { AWS: 'arn:aws:iam::111122223333:root' },
    }),
  ),
  bucket(
    bad,
    'everyone else denied something else',
    {},
    denied({ StringNotEquals: { 'aws:SourceVpce': 'vpce-1' } }, { Action: 's3:PutObject' }),
  ),
  bucket(bad, 'plain transport denied', {}, denied({ Bool: { 'aws:SecureTransport': 'false' } })),
  bucket(bad, 'denied where there is no endpoint at all', {}, denied({ Null: { 'aws:SourceVpce': 'true' } })),
  bad('aws.iam.public-resource-policy', 'every account by its root', 'aws_sqs_queue_policy', {
    policy: policy({ ...open, Principal: { AWS: 'arn:aws:iam::*:root' } }),
  }),
  bad('aws.iam.public-resource-policy', 'everyone by another pattern', 'aws_sqs_queue_policy', {
    policy: policy({ ...open, Principal: { AWS: ['arn:aws:iam::111122223333:root', '**'] } }),
  }),
  fine('aws.iam.public-resource-policy', 'one endpoint of a topic', 'aws_sns_topic_policy', {
    policy: policy({ ...open, Condition: { StringLike: { 'SNS:Endpoint': 'https://events.example.com/a1b2/*' } } }),
  }),
  bad('aws.iam.public-resource-policy', 'every endpoint of a topic', 'aws_sns_topic_policy', {
    policy: policy({ ...open, Condition: { StringLike: { 'SNS:Endpoint': '*' } } }),
  }),
  bad('aws.iam.public-resource-policy', 'a domain of packages', 'aws_codeartifact_domain_permissions_policy', {
    policy_document: policy(open),
  }),
  bad('aws.iam.public-lambda-permission', 'a layer for everyone', 'aws_lambda_layer_version_permission', {
    principal: '*',
    action: 'lambda:GetLayerVersion',
  }),
  fine('aws.iam.public-lambda-permission', 'a layer for an organization', 'aws_lambda_layer_version_permission', {
    principal: '*',
    organization_id: 'o-a1b2c3d4e5',
  }),
  fine('aws.iam.public-resource-policy', 'a mount target of the network', 'aws_efs_file_system_policy', {
    policy: policy({ ...open, Condition: { Bool: { 'elasticfilesystem:AccessedViaMountTarget': 'true' } } }),
  }),
  fine('aws.iam.public-resource-policy', 'the key of a service', 'aws_kms_key', {
    policy: policy({
      ...open,
      Condition: {
        StringEquals: { 'kms:CallerAccount': '111122223333', 'kms:ViaService': 's3.eu-west-1.amazonaws.com' },
      },
    }),
  }),
]

const identity = (make: typeof bad, rule: string, name: string, ...statements: object[]) =>
  make(`aws.iam.${rule}`, name, 'aws_iam_policy', {
    policy: policy(...statements.map((one) => ({ Effect: 'Allow', Resource: '*', ...one }))),
  })
const everything = { Action: '*' }

const identities: Case[] = [
  identity(bad, 'admin-policy', 'everything by a long pattern', { Action: '*', Resource: 'arn:aws:*:*:*:*' }),
  identity(bad, 'admin-policy', 'everything by stars', { Action: ['**'], Resource: ['?*'] }),
  identity(bad, 'admin-policy', 'over TLS', { ...everything, Condition: { Bool: { 'aws:SecureTransport': 'true' } } }),
  identity(bad, 'admin-policy', 'from everywhere', {
    ...everything,
    Condition: { IpAddress: { 'aws:SourceIp': '0.0.0.0/0' } },
  }),
  identity(bad, 'admin-policy', 'a key that requests to IAM do not have', {
    ...everything,
    Condition: { StringEqualsIfExists: { 'ec2:InstanceType': 't3.micro' } },
  }),
  identity(fine, 'admin-policy', 'what has a tag', {
    ...everything,
    Condition: { StringEquals: { 'aws:ResourceTag/team': 'data' } },
  }),
  identity(fine, 'admin-policy', 'all of IAM denied', everything, { Effect: 'Deny', Action: 'iam:*' }),
  identity(bad, 'admin-policy', 'denied without a second factor', everything, {
    Effect: 'Deny',
    Action: '*',
    Condition: { BoolIfExists: { 'aws:MultiFactorAuthPresent': 'false' } },
  }),
  identity(bad, 'admin-policy', 'denied for old sessions', everything, {
    Effect: 'Deny',
    Action: '*',
    Condition: { DateLessThan: { 'aws:TokenIssueTime': '2026-01-01T00:00:00Z' } },
  }),
  identity(bad, 'not-action', 'everything on all but one', {
    ...everything,
    Resource: undefined,
    NotResource: 'arn:aws:s3:::b',
  }),
  identity(bad, 'full-iam', 'all of IAM', { Action: 'iam:*' }),
  identity(bad, 'full-iam', 'all of IAM in an account', { Action: 'iam:*', Resource: 'arn:aws:iam::111122223333:*' }),
  identity(fine, 'full-iam', 'reading of IAM', { Action: ['iam:Get*', 'iam:List*'] }),
  identity(fine, 'full-iam', 'within a boundary', {
    Action: 'iam:*',
    Condition: { StringEquals: { 'iam:PermissionsBoundary': 'arn:aws:iam::111122223333:policy/edge' } },
  }),
  identity(fine, 'full-iam', 'that is reported as everything', everything),
  identity(fine, 'service-wildcard', 'that is reported as all of IAM', { Action: 'iam:*' }),
  ...[
    'iam:PassRole',
    'iam:CreatePolicyVersion',
    'iam:SetDefaultPolicyVersion',
    'iam:AttachUserPolicy',
    'iam:AttachGroupPolicy',
    'iam:AttachRolePolicy',
    'iam:PutUserPolicy',
    'iam:PutGroupPolicy',
    'iam:PutRolePolicy',
    'iam:CreateAccessKey',
    'iam:CreateLoginProfile',
    'iam:UpdateLoginProfile',
    'iam:AddUserToGroup',
    'iam:UpdateAssumeRolePolicy',
    'sts:AssumeRole',
    'lambda:UpdateFunctionCode',
    'ssm:SendCommand',
  ].map((Action) => identity(bad, 'escalation', Action, { Action })),
  identity(bad, 'escalation', 'by a pattern of actions', { Action: 'iam:Put*' }),
  identity(bad, 'escalation', 'on every role of an account', {
    Action: 'iam:PassRole',
    Resource: 'arn:aws:iam::111122223333:role/*',
  }),
  identity(bad, 'escalation', 'on every role of any account', {
    Action: 'sts:AssumeRole',
    Resource: 'arn:aws:iam::*:role/*',
  }),
  identity(bad, 'escalation', 'since a date that is over', {
    Action: 'iam:CreateAccessKey',
    Condition: { DateGreaterThan: { 'aws:TokenIssueTime': '2020-01-01T00:00:01Z' } },
  }),
  identity(fine, 'escalation', 'on one role', {
    Action: 'iam:PassRole',
    Resource: 'arn:aws:iam::111122223333:role/web',
  }),
  identity(
    fine,
    'escalation',
    'on one role beside something else',
    { Action: 'iam:PassRole', Resource: 'arn:aws:iam::111122223333:role/ecs' },
    { Action: 'account:GetAccountInformation' },
  ),
  identity(fine, 'escalation', 'on roles of one name', {
    Action: 'sts:AssumeRole',
    Resource: 'arn:aws:iam::*:role/reader',
  }),
  identity(fine, 'escalation', 'on oneself', {
    Action: 'iam:CreateAccessKey',
    Resource: 'arn:aws:iam::*:user/$' + '{aws:username}',
  }),
  identity(fine, 'escalation', 'for one service', {
    Action: 'iam:PassRole',
    Condition: { StringEquals: { 'iam:PassedToService': 'ec2.amazonaws.com' } },
  }),
  identity(fine, 'escalation', 'denied', { Action: 'iam:CreateAccessKey' }, { Effect: 'Deny', Action: 'iam:Create*' }),
  identity(fine, 'escalation', 'what does not lead further', { Action: ['iam:CreateUser', 'iam:ListUsers'] }),
]

const ofProvider = (host: string) => `arn:aws:iam::111122223333:oidc-provider/${host}`
const GITHUB = 'token.actions.githubusercontent.com'
const trust = (make: typeof bad, width: 'open' | 'wide', name: string, Condition: unknown, host = GITHUB) =>
  make(`aws.iam.${width}-token-trust`, name, 'aws_iam_role', {
    assume_role_policy: policy({
      Effect: 'Allow',
      Action: 'sts:AssumeRoleWithWebIdentity',
      Principal: { Federated: ofProvider(host) },
      ...(Condition ? { Condition } : {}),
    }),
  })
const sub = (value: unknown, operator = 'StringLike', host = GITHUB) => ({ [operator]: { [`${host}:sub`]: value } })
const EKS = 'oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF'

const tokens: Case[] = [
  trust(bad, 'open', 'no condition', undefined),
  trust(bad, 'open', 'the audience alone', { StringEquals: { [`${GITHUB}:aud`]: 'sts.amazonaws.com' } }),
  trust(bad, 'open', 'every subject', sub('*')),
  trust(bad, 'open', 'every repository', sub('repo:*')),
  trust(bad, 'open', 'every owner', sub('repo:*/web:*')),
  trust(bad, 'open', 'owners whose names begin so', sub('repo:acme*')),
  trust(bad, 'open', 'a branch of any repository', sub('*:ref:refs/heads/main')),
  trust(bad, 'open', 'a workflow of any repository', sub('workflow:deploy:*')),
  trust(bad, 'open', 'one of several', sub(['repo:acme/web:*', 'repo:*'])),
  trust(bad, 'open', 'not one repository', sub('repo:acme/web:*', 'StringNotLike')),
  trust(bad, 'open', 'any project of GitLab', sub('project_path:*', 'StringLike', 'gitlab.com'), 'gitlab.com'),
  trust(
    bad,
    'open',
    'any workspace of HCP Terraform',
    { StringEquals: { 'app.terraform.io:aud': 'aws.workload.identity' } },
    'app.terraform.io',
  ),
  trust(bad, 'open', 'any identity pool', undefined, 'cognito-identity.amazonaws.com'),
  trust(fine, 'open', 'a repository', sub('repo:acme/web:*')),
  trust(fine, 'open', 'a branch', sub('repo:acme/web:ref:refs/heads/main', 'StringEquals')),
  trust(fine, 'open', 'an environment of a repository', sub('repo:acme/web:environment:production')),
  trust(fine, 'open', 'a subject that is there in every token', sub('repo:acme/web:*', 'ForAllValues:StringLike')),
  trust(fine, 'open', 'the number of an owner', { StringEquals: { [`${GITHUB}:repository_owner_id`]: '583231' } }),
  trust(fine, 'open', 'an own issuer', undefined, 'login.example.com'),
  trust(fine, 'open', 'a project of GitLab', sub('project_path:acme/web:*', 'StringLike', 'gitlab.com'), 'gitlab.com'),
  trust(
    fine,
    'open',
    'a workspace',
    sub('organization:acme:project:p:workspace:w:*', 'StringLike', 'app.terraform.io'),
    'app.terraform.io',
  ),
  trust(
    fine,
    'open',
    'an identity pool',
    { StringEquals: { 'cognito-identity.amazonaws.com:aud': 'eu-west-1:1' } },
    'cognito-identity.amazonaws.com',
  ),
  trust(bad, 'wide', 'every repository of an organization', sub('repo:acme/*')),
  trust(bad, 'wide', 'every service account', { StringEquals: { [`${EKS}:aud`]: 'sts.amazonaws.com' } }, EKS),
  trust(
    bad,
    'wide',
    'every service account by a pattern',
    sub('system:serviceaccount:*:*', 'StringLike', EKS.toLowerCase()),
    EKS,
  ),
  trust(bad, 'wide', 'a pattern that is taken literally', sub('repo:*', 'StringEquals')),
  trust(fine, 'wide', 'a repository', sub('repo:acme/web:*')),
  trust(fine, 'wide', 'a service account', sub('system:serviceaccount:kube-system:node', 'StringEquals', EKS), EKS),
  trust(
    fine,
    'wide',
    'the service accounts of a namespace',
    sub('system:serviceaccount:web:*', 'StringLike', EKS),
    EKS,
  ),
]

const unread: Case[] = [
  bad(
    'common.iam.unread-policy',
    'a policy of another resource',
    'aws_sqs_queue_policy',
    {},
    {
      after_unknown: { policy: true },
      rest: configured('aws_sqs_queue_policy', { policy: reference('local.policy') }),
    },
  ),
  fine(
    'common.iam.unread-policy',
    'an argument that the code does not set',
    'aws_sqs_queue',
    {},
    { after_unknown: { policy: true }, rest: configured('aws_sqs_queue', { name: { constant_value: 'q' } }) },
  ),
  fine(
    'common.iam.unread-policy',
    'a policy that is not about access',
    'aws_cloudwatch_log_account_policy',
    {},
    {
      after_unknown: { policy_document: true },
      rest: configured('aws_cloudwatch_log_account_policy', { policy_document: reference('local.policy') }),
    },
  ),
  fine('common.iam.unread-policy', 'a policy that is known', 'aws_sqs_queue_policy', { policy: policy(open) }),
]

export const policyCases: Case[] = [...conditions, ...identities, ...tokens, ...unread]
