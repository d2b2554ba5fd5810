import { expect, test } from 'vitest'
import { provideGuarded, submitHostile } from './guarded.ts'

const { service, refused } = provideGuarded()

const STATES = 'remote state and backends'
/** The start of a template, apart from the templates of this file. */
const open = '$' + '{'
const remote = (backend: string, config: string, block = 'data') =>
  `${block} "terraform_remote_state" "x" {\n  backend = ${backend}\n  config  = ${config}\n}\n`
const backend = (type: string, body: string) => `terraform {\n  backend "${type}" {\n${body}\n  }\n}\n`

const HCL: [string, string, string][] = [
  ['s3 state with a shared configuration', remote('"s3"', '{ shared_config_files = ["aws"] }'), 'shared_config_files'],
  [
    'the same with quoted keys and a colon',
    remote('"s3"', '{ "shared_config_files" : ["aws"] }'),
    'shared_config_files',
  ],
  ['the same with an escaped key', remote('"s3"', '{ "shared\\u005fconfig_files" = ["aws"] }'), 'shared_config_files'],
  ['the same inside of parentheses', remote('("s3")', '({ shared_config_files = ["aws"] })'), 'shared_config_files'],
  [
    'the same inside of a template',
    remote('"s3"', `"${open}{ shared_config_files = ["aws"] }}"`),
    'shared_config_files',
  ],
  [
    'the same with comments between',
    remote('/* x */ "s3" # y', '{ /* { */ shared_config_files = var.x }'),
    'shared_config_files',
  ],
  [
    'the same inside of a check',
    `check "c" {\n${remote('"s3"', '{ shared_config_files = ["a"] }')}}\n`,
    'shared_config_files',
  ],
  ['a key that is computed', remote('"s3"', '{ (var.key) = ["a"] }'), 'not written literally'],
  ['settings that are merged', remote('"s3"', 'merge({ bucket = "b" }, local.more)'), 'not written literally'],
  ['settings from a for expression', remote('"s3"', '{ for k, v in local.x : k => v }'), 'not written literally'],
  ['settings from a local value', remote('"s3"', 'local.config'), 'not written literally'],
  ['a backend from a variable', remote('var.backend', '{ bucket = "b" }'), 'not written literally'],
  ['a backend from a template', remote(`"${open}var.a}3"`, '{ bucket = "b" }'), 'not written literally'],
  ['kubernetes state with a kubeconfig', remote('"kubernetes"', '{ config_path = "kube" }'), 'config_path'],
  ['kubernetes state with a program', remote('"kubernetes"', '{ exec = { command = "id" } }'), 'exec'],
  ['gcs state with a file of credentials', remote('"gcs"', '{ credentials = "key.json" }'), 'credentials'],
  [
    'azurerm state with a token of a file',
    remote('"azurerm"', '{ oidc_token_file_path = "/t" }'),
    'oidc_token_file_path',
  ],
  ['azurerm state through the command line tool', remote('"azurerm"', '{ use_cli = true }'), 'use_cli'],
  ['local state of another session', remote('"local"', '{ path = "../other/terraform.tfstate" }'), 'path'],
  ['local state by an absolute path', remote('"local"', '{ path = "/var/lib/x.tfstate" }'), 'path'],
  ['http state of the machine, in hexadecimal', remote('"http"', '{ address = "http://0x7f.1:80/s" }'), 'this machine'],
  ['pg state over a socket', remote('"pg"', '{ conn_str = "postgres:///x?host=/var/run/postgresql" }'), 'conn_str'],
  ['consul state of the machine', remote('"consul"', '{ address = "localhost:8500" }'), 'this machine'],
  ['state of a service that runs elsewhere', remote('"remote"', '{ organization = "x" }'), 'another service'],
  [
    'a backend block with a profile of a program',
    backend('s3', '    shared_config_files = ["aws"]'),
    'shared_config_files',
  ],
  [
    'a backend block with a token of a file',
    backend('s3', '    assume_role_with_web_identity = { web_identity_token_file = "/t" }'),
    'web_identity_token_file',
  ],
  [
    'a backend block with another token service',
    backend('s3', '    endpoints = { sts = "https://evil.example" }'),
    'sts',
  ],
  [
    'a backend block that asks the metadata of the cloud',
    backend('s3', '    endpoints = { s3 = "http://169.254.169.254" }'),
    'metadata',
  ],
  ['a backend block with an own proxy', backend('s3', '    https_proxy = "http://evil.example"'), 'https_proxy'],
  [
    'a backend block of kubernetes with a program',
    backend('kubernetes', '    exec {\n      command = "id"\n    }'),
    'exec',
  ],
  ['a backend block of consul with files', backend('consul', '    ca_file = "/etc/passwd"'), 'ca_file'],
  [
    'a backend block of oss with a token service',
    backend('oss', '    sts_endpoint = "https://evil.example"'),
    'sts_endpoint',
  ],
  [
    'a backend block of http in a private network',
    backend('http', '    address = "http://10.1.2.3/s"'),
    'a private network',
  ],
  ['a backend block of local outside', backend('local', '    path = "../../s.tfstate"'), 'path'],
  ['a backend block that runs elsewhere', backend('remote', '    organization = "x"'), 'another service'],
  ['a cloud block', 'terraform {\n  cloud {\n    organization = "x"\n  }\n}\n', 'another service'],
  [
    'encryption by a program',
    'terraform {\n  encryption {\n    key_provider "external" "x" {\n      command = ["id"]\n    }\n  }\n}\n',
    'key_provider "external"',
  ],
  [
    'encryption by a method that is a program',
    'terraform {\n  encryption {\n    method external x {\n    }\n  }\n}\n',
    'method "external"',
  ],
]
for (const [title, source, text] of HCL) refused(STATES, title, { files: { 'main.tf': source } }, 'main.tf line', text)

const JSON_FORMS: [string, unknown, string][] = [
  [
    'in JSON: s3 state',
    { data: { terraform_remote_state: { x: { backend: 's3', config: { shared_config_files: ['a'] } } } } },
    'shared_config_files',
  ],
  [
    'in JSON: lists of blocks',
    [{ data: [{ terraform_remote_state: [{ x: [{ backend: 's3', config: { shared_config_files: ['a'] } }] }] }] }],
    'shared_config_files',
  ],
  [
    'in JSON: settings from a template',
    { data: { terraform_remote_state: { x: { backend: 's3', config: `${open}local.x}` } } } },
    'not written literally',
  ],
  [
    'in JSON: a key from a template',
    {
      data: { terraform_remote_state: { x: { backend: 's3', config: { [`${open}"a"}`]: 1, [`${open}var.a}`]: 1 } } } },
    },
    'not written literally',
  ],
  [
    'in JSON: a backend block',
    { terraform: { backend: { s3: { shared_credentials_files: ['a'] } } } },
    'shared_credentials_files',
  ],
  ['in JSON: a cloud block', { terraform: [{ cloud: {} }] }, 'another service'],
]
for (const [title, value, text] of JSON_FORMS)
  refused(STATES, title, { files: { 'main.tf.json': JSON.stringify(value) } }, 'main.tf.json line', text)

refused(
  STATES,
  'settings that override files put together',
  {
    files: {
      'main.tf': 'data "terraform_remote_state" "x" {\n  backend = "s3"\n}\n',
      'x_override.tf': 'data "terraform_remote_state" "x" {\n  config = { shared_config_files = ["a"] }\n}\n',
    },
  },
  'x_override.tf line 2',
)
refused(
  STATES,
  'a program in the override file of the platform',
  { files: { 'backend_override.tf': backend('s3', '    shared_config_files = ["aws"]') } },
  'shared_config_files',
)
refused(
  STATES,
  'a saved backend in the data folder',
  {
    files: {
      'main.tf': backend('s3', '    bucket = "b"'),
      '.terraform/terraform.tfstate': JSON.stringify({
        version: 3,
        backend: { type: 's3', config: { bucket: 'b', shared_config_files: ['aws'] }, hash: 1 },
      }),
    },
    kinds: ['plan', 'import/state-resource-ids'],
  },
  'saved backend "s3"',
)
refused(STATES, 'a backend block in a file that is broken elsewhere', {
  files: { 'main.tf': `locals {\n  a = "\n}\n${backend('s3', '    bucket = "b"')}` },
})

test('ordinary backends and states are not refused', async () => {
  const ordinary: Record<string, string>[] = [
    { 'main.tf': remote('"s3"', `{\n    bucket = var.bucket\n    key    = var.a ? "a" : "b"\n    region = "eu"\n  }`) },
    {
      'main.tf': backend(
        's3',
        '    bucket = "b"\n    key = "k"\n    region = "r"\n    dynamodb_table = "t"\n    encrypt = true',
      ),
    },
    {
      'main.tf': backend(
        's3',
        '    bucket = "b"\n    key = "k"\n    profile = "ci"\n    assume_role = { role_arn = "x" }',
      ),
    },
    {
      'main.tf': backend(
        'azurerm',
        '    storage_account_name = "a"\n    container_name = "c"\n    key = "k"\n    use_azuread_auth = true',
      ),
    },
    { 'main.tf': backend('gcs', '    bucket = "b"\n    prefix = "p"') },
    { 'main.tf': backend('http', '    address = "https://state.example.com/s"') },
    {
      'backend_override.tf': backend(
        's3',
        '    bucket = "b"\n    key = "k"\n    region = "r"\n    access_key = "a"\n    secret_key = "s"\n    token = "t"\n' +
          '    endpoints = { s3 = "http://127.0.0.1:9000" }\n    use_path_style = true\n    use_lockfile = true',
      ),
    },
  ]
  for (const files of ordinary) {
    const [answer] = await submitHostile(service, { files, kinds: ['validate'] })
    expect(answer.result.stderr).not.toMatch(/Reach beyond|could not be checked|Program on the engine host/)
  }
})
