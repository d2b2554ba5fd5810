import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { provideGuarded } from './guarded.ts'

const { service, refused } = provideGuarded()

const STATES = 'remote state and backends'
/** The start of a template, apart from the templates of this file. */
const open = '$' + '{'
const remote = (backend: string, config: string, block = 'data') =>
  `${block} "terraform_remote_state" "x" {\n  backend = ${backend}\n  config  = ${config}\n}\n`
const backend = (type: string, body: string) => `terraform {\n  backend "${type}" {\n${body}\n  }\n}\n`

const SHARED = 'shared_config_files'
const REMOTE: [title: string, backend: string, config: string, text: string][] = [
  ['s3 state with a shared configuration', '"s3"', '{ shared_config_files = ["aws"] }', SHARED],
  ['the same with quoted keys and a colon', '"s3"', '{ "shared_config_files" : ["aws"] }', SHARED],
  ['the same with an escaped key', '"s3"', '{ "shared\\u005fconfig_files" = ["aws"] }', SHARED],
  ['the same inside of parentheses', '("s3")', '({ shared_config_files = ["aws"] })', SHARED],
  ['the same inside of a template', '"s3"', `"${open}{ shared_config_files = ["aws"] }}"`, SHARED],
  ['the same with comments between', '/* x */ "s3" # y', '{ /* { */ shared_config_files = var.x }', SHARED],
  ['a key that is computed', '"s3"', '{ (var.key) = ["a"] }', 'not written literally'],
  ['settings that are merged', '"s3"', 'merge({ bucket = "b" }, local.more)', 'not written literally'],
  ['settings from a for expression', '"s3"', '{ for k, v in local.x : k => v }', 'not written literally'],
  ['settings from a local value', '"s3"', 'local.config', 'not written literally'],
  ['a backend from a variable', 'var.backend', '{ bucket = "b" }', 'not written literally'],
  ['a backend from a template', `"${open}var.a}3"`, '{ bucket = "b" }', 'not written literally'],
  ['kubernetes state with a kubeconfig', '"kubernetes"', '{ config_path = "kube" }', 'config_path'],
  ['kubernetes state with a program', '"kubernetes"', '{ exec = { command = "id" } }', 'exec'],
  ['gcs state with a file of credentials', '"gcs"', '{ credentials = "key.json" }', 'credentials'],
  ['azurerm state with a token of a file', '"azurerm"', '{ oidc_token_file_path = "/t" }', 'oidc_token_file_path'],
  ['azurerm state through the command line tool', '"azurerm"', '{ use_cli = true }', 'use_cli'],
  ['local state of another session', '"local"', '{ path = "../other/terraform.tfstate" }', 'path'],
  ['local state by an absolute path', '"local"', '{ path = "/var/lib/x.tfstate" }', 'path'],
  ['http state of the machine, in hexadecimal', '"http"', '{ address = "http://0x7f.1:80/s" }', 'this machine'],
  ['pg state over a socket', '"pg"', '{ conn_str = "postgres:///x?host=/var/run/postgresql" }', 'conn_str'],
  ['consul state of the machine', '"consul"', '{ address = "localhost:8500" }', 'this machine'],
  ['state of a service that runs elsewhere', '"remote"', '{ organization = "x" }', 'another service'],
]
for (const [title, type, config, text] of REMOTE) refused(STATES, title, remote(type, config), 'main.tf line', text)

const TOKEN_FILE = 'assume_role_with_web_identity = { web_identity_token_file = "/t" }'
const BLOCKS: [title: string, type: string, body: string, text: string][] = [
  ['with a profile of a program', 's3', 'shared_config_files = ["aws"]', SHARED],
  ['with a token of a file', 's3', TOKEN_FILE, 'web_identity_token_file'],
  ['with another token service', 's3', 'endpoints = { sts = "https://evil.example" }', 'sts'],
  ['that asks the metadata of the cloud', 's3', 'endpoints = { s3 = "http://169.254.169.254" }', 'metadata'],
  ['with an own proxy', 's3', 'https_proxy = "http://evil.example"', 'https_proxy'],
  ['of kubernetes with a program', 'kubernetes', 'exec {\n      command = "id"\n    }', 'exec'],
  ['of consul with files', 'consul', 'ca_file = "/etc/passwd"', 'ca_file'],
  ['of oss with a token service', 'oss', 'sts_endpoint = "https://evil.example"', 'sts_endpoint'],
  ['of http in a private network', 'http', 'address = "http://10.1.2.3/s"', 'a private network'],
  ['of local outside', 'local', 'path = "../../s.tfstate"', 'path'],
  ['that runs elsewhere', 'remote', 'organization = "x"', 'another service'],
]
for (const [title, type, body, text] of BLOCKS)
  refused(STATES, `a backend block ${title}`, backend(type, body), 'main.tf line', text)

const HCL: [title: string, source: string, text: string][] = [
  ['the same inside of a check', `check "c" {\n${remote('"s3"', '{ shared_config_files = ["a"] }')}}\n`, SHARED],
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
for (const [title, source, text] of HCL) refused(STATES, title, source, 'main.tf line', text)

const state = (config: unknown) => ({ backend: 's3', config })
const stateIn = (config: unknown) => ({ data: { terraform_remote_state: { x: state(config) } } })
const SHARING = { shared_config_files: ['a'] }
const COMPUTED = { [`${open}"a"}`]: 1, [`${open}var.a}`]: 1 }
const CREDENTIALS = { shared_credentials_files: ['a'] }
const JSON_FORMS: [title: string, value: unknown, text: string][] = [
  ['s3 state', stateIn(SHARING), SHARED],
  ['lists of blocks', [{ data: [{ terraform_remote_state: [{ x: [state(SHARING)] }] }] }], SHARED],
  ['settings from a template', stateIn(`${open}local.x}`), 'not written literally'],
  ['a key from a template', stateIn(COMPUTED), 'not written literally'],
  ['a backend block', { terraform: { backend: { s3: CREDENTIALS } } }, 'shared_credentials_files'],
  ['a cloud block', { terraform: [{ cloud: {} }] }, 'another service'],
]
for (const [title, value, text] of JSON_FORMS) {
  const files = { 'main.tf.json': JSON.stringify(value) }
  refused(STATES, `in JSON: ${title}`, { files }, 'main.tf.json line', text)
}

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
  { files: { 'backend_override.tf': backend('s3', 'shared_config_files = ["aws"]') } },
  'shared_config_files',
)
const OVERRIDES: [title: string, body: string, text: string][] = [
  ['an address of this machine', 'endpoints = { s3 = "http://127.0.0.1:9000" }', 'this machine'],
  ['a token service of its own', 'sts_endpoint = "https://evil.example"', 'sts_endpoint'],
  ['a file of keys', 'shared_credentials_files = [".platform-state-credentials"]', 'shared_credentials_files'],
]
for (const [title, body, text] of OVERRIDES)
  refused(
    STATES,
    `an override file of the repository with ${title}`,
    {
      files: {
        'backend_override.tf': backend('s3', body),
        '.platform-state-credentials':
          '[platform-state]\naws_access_key_id = a\naws_secret_access_key = s\naws_session_token = t\n',
      },
    },
    'backend_override.tf line',
    text,
  )
refused(
  STATES,
  'a saved backend in the data folder',
  {
    files: {
      'main.tf': backend('s3', 'bucket = "b"'),
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
  files: { 'main.tf': `locals {\n  a = "\n}\n${backend('s3', 'bucket = "b"')}` },
})

test('ordinary backends and states are not refused', async () => {
  const override =
    'bucket = "b"\nkey = "k"\nregion = "r"\naccess_key = "a"\nsecret_key = "s"\ntoken = "t"\n' +
    'endpoints = { s3 = "http://127.0.0.1:9000" }\nuse_path_style = true\nuse_lockfile = true'
  const ordinary: [code: string, name?: string][] = [
    [remote('"s3"', `{\n    bucket = var.bucket\n    key    = var.a ? "a" : "b"\n    region = "eu"\n  }`)],
    [backend('s3', 'bucket = "b"\nkey = "k"\nregion = "r"\ndynamodb_table = "t"\nencrypt = true')],
    [backend('s3', 'bucket = "b"\nkey = "k"\nprofile = "ci"\nassume_role = { role_arn = "x" }')],
    [backend('azurerm', 'storage_account_name = "a"\ncontainer_name = "c"\nkey = "k"\nuse_azuread_auth = true')],
    [backend('gcs', 'bucket = "b"\nprefix = "p"')],
    [backend('http', 'address = "https://state.example.com/s"')],
    [backend('s3', override), 'backend_override.tf'],
    [backend('s3', override), 'other_override.tf'],
  ]
  for (const [code, name = 'main.tf'] of ordinary) {
    // The worker names the hash of the override file that it has written, whatever the file is called.
    const state = { cloud: null, override_sha256: createHash('sha256').update(code).digest('hex') }
    const workspace_path = await service.workspace({ [name]: code })
    const answer = await service.run('/v1/validate', { workspace_path, state })
    expect(answer.result.stderr).not.toMatch(/Reach beyond|could not be checked|Program on the engine host/)
  }
})
