import { bad, type Case, configured, constant, deleted, fine, type More, reference, type Values } from '../support.ts'

const updated = (before: Values) => ({ actions: ['update'], before })
const variables = (values: Values) => ({ environment: [{ variables: values }] })
const GITHUB = `ghp_${'a1B2c3D4e5'.repeat(4)}`

const changes: Case[] = [
  bad('common.stateful.data-destroyed', 'deleted', 'aws_db_instance', null, deleted()),
  fine('common.stateful.data-destroyed', 'a plain one', 'aws_route_table', null, deleted()),
  fine('common.stateful.data-destroyed', 'made', 'aws_db_instance', {}),
  bad(
    'common.stateful.data-replaced',
    'replaced',
    'google_sql_database_instance',
    {},
    { actions: ['delete', 'create'], before: {} },
  ),
  bad(
    'common.stateful.data-replaced',
    'the other order',
    'oci_objectstorage_bucket',
    {},
    { actions: ['create', 'delete'], before: {} },
  ),
  fine('common.stateful.data-replaced', 'updated', 'google_sql_database_instance', {}, updated({})),
  bad('common.stateful.unknown-lost', 'deleted', 'acme_data_set', null, deleted()),
  bad('common.stateful.unknown-lost', 'replaced', 'acme_data_set', {}, { actions: ['delete', 'create'], before: {} }),
  fine('common.stateful.unknown-lost', 'updated', 'acme_data_set', {}, updated({})),
  fine('common.stateful.unknown-lost', 'known to hold nothing', 'aws_route_table', null, deleted()),
  bad('common.stateful.access-removed', 'deleted', 'aws_kms_key', null, deleted()),
  fine('common.stateful.access-removed', 'updated', 'aws_kms_key', {}, updated({})),
  bad(
    'common.stateful.protection-removed',
    'off',
    'aws_db_instance',
    { deletion_protection: false },
    updated({ deletion_protection: true }),
  ),
  fine(
    'common.stateful.protection-removed',
    'as before',
    'aws_db_instance',
    { deletion_protection: false },
    updated({ deletion_protection: false }),
  ),
  fine(
    'common.stateful.protection-removed',
    'known later',
    'aws_db_instance',
    {},
    { ...updated({ deletion_protection: true }), after_unknown: { deletion_protection: true } },
  ),
  bad('common.scope.outside-targets', 'not named', 'aws_s3_bucket', {}, { targets: ['aws_vpc.main'] }),
  fine('common.scope.outside-targets', 'named', 'aws_s3_bucket', {}, { targets: ['aws_s3_bucket.item0'] }),
  fine('common.scope.outside-targets', 'the whole root', 'aws_s3_bucket', {}),
  bad('common.scope.unasked-loss', 'deleted', 'terraform_data', null, {
    ...deleted(),
    unasked: ['terraform_data.item0'],
  }),
  bad(
    'common.scope.unasked-loss',
    'replaced',
    'terraform_data',
    {},
    {
      ...{ actions: ['delete', 'create'], before: {} },
      unasked: ['terraform_data.item0'],
    },
  ),
  fine('common.scope.unasked-loss', 'asked for', 'terraform_data', null, deleted()),
]

/** A resource whose code has these expressions. */
const argument = (
  make: typeof bad,
  name: string,
  type: string,
  expressions: Values,
  after: Values | null = {},
  more: More = {},
) => make('common.secrets.literal-argument', name, type, after, { ...more, rest: configured(type, expressions) })

const literals: Case[] = [
  argument(bad, 'password', 'aws_db_instance', { password: constant('hunter2') }, { password: 'hunter2' }),
  argument(bad, 'in a block', 'azurerm_linux_virtual_machine', { profile: [{ admin_password: constant('P4ss') }] }),
  argument(
    fine,
    'a token that tells a repeated request from a new one',
    'aws_efs_file_system',
    { creation_token: constant('shared-files') },
    { creation_token: 'shared-files' },
  ),
  argument(bad, 'by its type', 'azurerm_key_vault_secret', { value: constant('x1') }),
  argument(bad, 'a map', 'kubernetes_secret', { data: constant({ key: 'abc' }) }),
  argument(
    bad,
    'a manifest',
    'kubernetes_manifest',
    { manifest: constant({ kind: 'Secret', data: { key: 'YWJj' } }) },
    { manifest: { kind: 'Secret' } },
  ),
  argument(bad, 'a block of secrets', 'azurerm_container_app', {
    secret: [{ name: constant('db'), value: constant('x1') }],
  }),
  argument(bad, 'a key in base64 with slashes', 'aws_x', {
    secret_key: constant('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
  }),
  argument(bad, 'a secure parameter', 'aws_ssm_parameter', { value: constant('x1') }, { type: 'SecureString' }),
  argument(
    bad,
    'changed',
    'aws_db_instance',
    { password: constant('new') },
    { password: 'new' },
    updated({ password: 'old' }),
  ),
  argument(
    bad,
    'an instance',
    'aws_db_instance',
    { password: constant('hunter2') },
    {},
    { address: 'aws_db_instance.item0["a.b"]' },
  ),
  argument(
    fine,
    'as before',
    'aws_db_instance',
    { password: constant('old') },
    { password: 'old', tags: {} },
    updated({ password: 'old' }),
  ),
  argument(fine, 'a placeholder', 'aws_x', { secret_string: constant('REPLACE_ME') }),
  argument(fine, 'a variable', 'aws_db_instance', { password: reference('var.password') }, { password: 'hunter2' }),
  argument(fine, 'the name of a secret', 'aws_db_instance', {
    master_user_secret_kms_key_id: constant('alias/db'),
    manage_master_user_password: constant(true),
  }),
  argument(fine, 'the address of a secret', 'aws_x', { auth_token: constant('arn:aws:secretsmanager:x') }),
  argument(fine, 'a plain parameter', 'aws_ssm_parameter', { value: constant('x1') }, { type: 'String' }),
  argument(fine, 'deleted', 'aws_db_instance', { password: constant('old') }, null, deleted({ password: 'old' })),
]

/** A function with one variable of its environment, which its code has as a constant unless `code` says otherwise. */
const environment = (
  make: typeof bad,
  rule: string,
  name: string,
  variable: string,
  value: string,
  code: unknown = constant({ [variable]: value }),
) =>
  make(`common.secrets.${rule}`, name, 'aws_lambda_function', variables({ [variable]: value }), {
    rest: configured('aws_lambda_function', { environment: [{ variables: code }] }),
  })

const environments: Case[] = [
  environment(fine, 'literal-environment', 'which secret', 'DB_SECRET', 'orders-db'),
  environment(bad, 'literal-environment', 'a constant', 'DB_PASSWORD', 'hunter2'),
  bad(
    'common.secrets.literal-environment',
    'in a text of definitions',
    'aws_ecs_task_definition',
    { container_definitions: JSON.stringify([{ environment: [{ name: 'API_TOKEN', value: 'abcdef' }] }]) },
    { rest: configured('aws_ecs_task_definition', { container_definitions: {} }) },
  ),
  environment(fine, 'literal-environment', 'a variable', 'DB_PASSWORD', 'hunter2', reference('var.password')),
  environment(fine, 'literal-environment', 'an address', 'DB_PASSWORD', 'arn:aws:ssm:eu:1:parameter/p'),
  environment(bad, 'plain-environment', 'a variable', 'DB_PASSWORD', 'hunter2', reference('var.password')),
  bad('common.secrets.plain-environment', 'Cloud Run', 'google_cloud_run_v2_service', {
    template: [{ containers: [{ env: [{ name: 'API_KEY', value: 'abcdef' }] }] }],
  }),
  bad('common.secrets.plain-environment', 'config map', 'kubernetes_config_map', {
    data: { 'smtp-password': 'abcdef' },
  }),
  fine('common.secrets.plain-environment', 'sensitive', 'aws_lambda_function', variables({ DB_PASSWORD: 'hunter2' }), {
    after_sensitive: variables({ DB_PASSWORD: true }),
  }),
  fine(
    'common.secrets.plain-environment',
    'no secret',
    'aws_lambda_function',
    variables({ DB_PASSWORD_FILE: '/run/secret' }),
  ),
  fine(
    'common.secrets.plain-environment',
    'unknown',
    'aws_lambda_function',
    { environment: [{}] },
    { after_unknown: { environment: [{ variables: true }] } },
  ),
]

const formats: Case[] = [
  bad('common.secrets.known-token', 'access key', 'aws_instance', {
    user_data: 'export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\n',
  }),
  bad('common.secrets.known-token', 'in base64', 'aws_launch_template', {
    user_data: btoa(`#!/bin/sh\ngit clone https://${GITHUB}@host\n`),
  }),
  fine('common.secrets.known-token', 'blanks that are no base64', 'aws_instance', {
    user_data: `${' '.repeat(99_000)}!`,
  }),
  bad('common.secrets.known-token', 'in a map', 'kubernetes_config_map', { data: { 'app.yaml': `token: ${GITHUB}` } }),
  bad('common.secrets.known-token', 'private key', 'google_compute_instance', {
    metadata: { key: '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----' },
  }),
  fine('common.secrets.known-token', 'public key', 'google_compute_instance', {
    metadata: { 'ssh-keys': 'a:ssh-ed25519 AAAAC3Nz a@b' },
  }),
  fine(
    'common.secrets.known-token',
    'sensitive',
    'aws_instance',
    { user_data: GITHUB },
    { after_sensitive: { user_data: true } },
  ),
  fine('common.secrets.known-token', 'where secrets belong', 'aws_secretsmanager_secret_version', {
    secret_string: GITHUB,
  }),
  fine('common.secrets.known-token', 'a word that begins alike', 'aws_instance', {
    user_data: 'xAKIAIOSFODNN7EXAMPLE AKIAshort',
  }),
  bad('common.secrets.url-password', 'an address', 'kubernetes_config_map', {
    data: { dsn: 'postgres://app:hunter2@db:5432/app' },
  }),
  fine('common.secrets.url-password', 'a digest', 'kubernetes_config_map', {
    data: { image: 'oci://registry:1.2@sha256:0123' },
  }),
  fine('common.secrets.url-password', 'a placeholder', 'kubernetes_config_map', {
    data: { dsn: 'postgres://app:$(PASSWORD)@db:5432/app' },
  }),
  fine('common.secrets.url-password', 'no password', 'kubernetes_config_map', {
    data: { dsn: 'postgres://app@db:5432/app', url: 'https://a.example.com:443/@x' },
  }),
]

const module_of = (inputs: unknown) => ({
  configuration: {
    root_module: {
      variables: { db_password: { default: 'changeit' }, secret_name: { default: 'prod' }, api_token: {} },
      module_calls: { db: { expressions: inputs, module: { resources: [] } } },
    },
    provider_config: {
      aws: { name: 'aws', expressions: { region: constant('eu-west-1'), secret_key: constant('wJalrXUtnFEMI') } },
    },
  },
})
const inModule = { address: 'module.db[0].aws_db_instance.main' }
const moduleInput = (make: typeof bad, name: string, password: unknown, place: More) =>
  make('common.secrets.module-input', name, 'aws_db_instance', {}, { ...place, rest: module_of({ password }) })

const of_the_plan: Case[] = [
  moduleInput(bad, 'a constant', constant('hunter2'), inModule),
  moduleInput(fine, 'a variable', reference('var.p'), inModule),
  moduleInput(fine, 'another module', constant('hunter2'), {}),
  bad('common.secrets.variable-default', 'a default', 'aws_vpc', {}, { rest: module_of({}) }),
  fine(
    'common.secrets.variable-default',
    'nothing new',
    'aws_vpc',
    { a: 1 },
    { ...updated({ a: 2 }), rest: module_of({}) },
  ),
  bad('common.secrets.provider-argument', 'a constant', 'aws_vpc', {}, { rest: module_of({}) }),
  fine(
    'common.secrets.provider-argument',
    'none',
    'aws_vpc',
    {},
    { rest: { configuration: { provider_config: { aws: { expressions: {} } } } } },
  ),
]

export const commonCases: Case[] = [...changes, ...literals, ...environments, ...formats, ...of_the_plan]
