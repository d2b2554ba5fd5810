import { link, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Hostile, provideGuarded, submitHostile } from './guarded.ts'

const { service, refused } = provideGuarded()

const open = '$' + '{'
const local = (value: string) => `locals {\n  a = ${value}\n}\n`
const main = 'locals {\n}\n'

const FUNCTIONS = 'functions that read the host'
const CALLS: [string, string][] = [
  ['file("/etc/passwd")', 'absolute'],
  ['file("../../other/main.tf")', 'climbs out'],
  ['file("~/.aws/credentials")', 'home folder'],
  ['file( /* x */ "/proc/self/environ" )', 'absolute'],
  ['file(\n    "/etc/passwd"\n  )', 'absolute'],
  ['file("\\u002fetc/passwd")', 'absolute'],
  ['file(("/etc/passwd"))', 'absolute'],
  [`file("${open}"/etc/passwd"}")`, 'absolute'],
  [`file("${open}path.module}/../../x")`, 'climbs out'],
  [`file("${open}path.root}/../x")`, 'climbs out'],
  [`file("/proc/${open}var.pid}/environ")`, 'absolute'],
  ['file(<<EOT\n/etc/passwd\nEOT\n)', 'absolute'],
  ['core::file("/etc/passwd")', 'absolute'],
  ['base64encode(file("/etc/passwd"))', 'absolute'],
  [`"x ${open}file("/etc/passwd")} y"`, 'absolute'],
  [`"%{ if fileexists("/etc/passwd") }a%{ endif }"`, 'absolute'],
  [`<<-EOT\n    ${open}file("/etc/passwd")}\n  EOT`, 'absolute'],
  ['[for f in fileset("../..", "*/main.tf") : f]', 'climbs out'],
  ['fileset(path.module, "../../*/main.tf")', 'climbs out'],
  ['fileset(".", "../*")', 'climbs out'],
  ['{ a = { b = filebase64("/etc/passwd") } }', 'absolute'],
  ['templatefile("/etc/passwd", {})', 'absolute'],
  ['filesha256("/etc/passwd")', 'absolute'],
  ['filemd5("../../x")', 'climbs out'],
  ['filebase64sha512("/etc/passwd")', 'absolute'],
  ['pathexpand("~/.ssh/id_rsa")', 'home folder'],
  ['provider::local::direxists("/root")', 'absolute'],
  ['file("backend_override.tf")', 'keys of the state store'],
  ['file(".terraform/terraform.tfstate")', 'keys of the state store'],
  ['file(".git/config")', "git's own folder"],
]
for (const [call, text] of CALLS) refused(FUNCTIONS, call.replaceAll(/\s+/g, ' '), local(call), 'main.tf line', text)
const inJson = (a: unknown): Hostile => ({ files: { 'main.tf.json': JSON.stringify({ locals: { a } }) } })
const PASSWD = `${open}file("/etc/passwd")}`
refused(FUNCTIONS, 'file() in JSON', inJson(PASSWD), 'main.tf.json line 1')
refused(FUNCTIONS, 'file() in a key in JSON', inJson({ [PASSWD]: 1 }), 'absolute')
for (const [type, name] of [
  ['data "local_file"', 'filename'],
  ['data "local_sensitive_file"', 'filename'],
  ['resource "local_file"', 'filename'],
  ['data "archive_file"', 'source_dir'],
  ['data "archive_file"', 'output_path'],
  ['resource "aws_s3_object"', 'source'],
] as const)
  refused(FUNCTIONS, `${type} with ${name}`, `${type} "x" {\n  ${name} = "/etc/passwd"\n}\n`, name)

const CREDENTIALS = 'credentials of providers'
const ARGUMENTS: [string, string, string][] = [
  ['aws', 'shared_config_files = ["aws"]', 'shared_config_files'],
  ['aws', 'shared_credentials_files = var.files', 'shared_credentials_files'],
  ['aws', 'assume_role_with_web_identity {\n    web_identity_token_file = "/t"\n  }', 'web_identity_token_file'],
  ['aws', 'custom_ca_bundle = "/etc/ssl/x.pem"', 'custom_ca_bundle'],
  ['kubernetes', 'config_path = "~/.kube/config"', 'config_path'],
  ['kubernetes', 'config_paths = ["a"]', 'config_paths'],
  ['helm', 'kubernetes {\n    config_path = "kube"\n  }', 'config_path'],
  ['helm', 'kubernetes = {\n    config_path = "kube"\n  }', 'config_path'],
  ['google', 'credentials = "key.json"', 'credentials'],
  ['google-beta', `credentials = "{\\"credential_source\\": {\\"file\\": \\"/etc/passwd\\"}}"`, 'credentials'],
  ['azurerm', 'client_certificate_path = "c.pfx"\n  features {}', 'client_certificate_path'],
  ['azurerm', 'oidc_token_file_path = "/t"\n  features {}', 'oidc_token_file_path'],
  ['azurerm', 'use_cli = true\n  features {}', 'use_cli'],
  ['azurerm', 'metadata_host = "evil.example"\n  features {}', 'metadata_host'],
  ['oci', 'private_key_path = "k.pem"', 'private_key_path'],
  ['oci', 'config_file_profile = "DEFAULT"', 'config_file_profile'],
  ['vault', 'ca_cert_file = "/etc/passwd"', 'ca_cert_file'],
]
for (const [provider, argument, text] of ARGUMENTS)
  refused(
    CREDENTIALS,
    `${provider}: ${argument.replaceAll(/\s+/g, ' ')}`,
    `provider "${provider}" {\n  ${argument}\n}\n`,
    text,
  )
refused(
  CREDENTIALS,
  'helm_release with a renderer',
  'resource "helm_release" "x" {\n  postrender {\n    binary_path = "id"\n  }\n}\n',
  'postrender',
)

const LINKS = 'symbolic links'
const linked = (name: string, target: string, files: Record<string, string> = { 'main.tf': main }): Hostile => ({
  files,
  prepare: async (folder) => {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await symlink(target, join(folder, name))
  },
})
for (const name of [
  'terraform.tfstate',
  'terraform.tfstate.backup',
  'terraform.tfstate.d',
  '.terraform.tfstate.lock.info',
  '.terraform.lock.hcl',
  'errored.tfstate',
  'crash.log',
  '.terraform',
  '.terraform/terraform.tfstate',
  '.terraform/environment',
  '.terraform/modules',
  '.terraform/modules/modules.json',
  '.terraform/providers',
  '.terraform/anything',
])
  refused(
    LINKS,
    `${name} is a link inside of the repository`,
    linked(name, `${name.includes('/') ? '../' : ''}main.tf`),
    name,
  )
for (const [title, name, target] of [
  ['a configuration file', 'x.tf', '/etc/passwd'],
  ['a configuration file that never ends', 'x.tf', '/dev/zero'],
  ['a folder of data', 'data', '/etc'],
  ['a link that climbs', 'deep/er/x', '../../../other'],
  ['a link that leads nowhere yet', 'x', '/tmp/not-there-yet'],
  ['a link to the processes', 'x', '/proc/self/environ'],
] as const)
  refused(LINKS, title, linked(name, target), name)
refused(
  LINKS,
  'a provider of another session',
  linked('.terraform/providers/registry.terraform.io/a/b/1.0.0/linux_amd64', '/tmp'),
  'providers',
)

const SHIPPED = 'what a repository ships'
for (const name of [
  'terraform-provider-x',
  'Terraform-Provider-x',
  'TERRAFORM-PROVISIONER-x',
  'tofu-provider-x',
  'terraform.d/plugins/x',
  'Terraform.D/Plugins/x',
  '.terraform/plugins/linux_amd64/terraform-provider-x',
  '.terraform/providers/registry.terraform.io/a/b/1.0.0/linux_amd64/terraform-provider-b',
])
  refused(SHIPPED, name, { files: { 'main.tf': main, [name]: '#!/bin/sh\n' } }, 'a plugin inside the repository')
const ELSEWHERE = '{"Modules":[{"Key":"m","Source":"x","Dir":"../../other"}]}'
for (const [title, name, text, ...words] of [
  ['another workspace of the engine', '.terraform/environment', 'other'],
  ['a manifest of modules elsewhere', '.terraform/modules/modules.json', ELSEWHERE, 'outside of the repository'],
  ['a lock file of 2 MiB', '.terraform.lock.hcl', `# ${'x'.repeat(2 ** 21)}\n`],
] as const)
  refused(SHIPPED, title, { files: { 'main.tf': main, [name]: text } }, name, ...words)

const UNSEEN = 'files that the check might not see'
const raw = (bytes: number[], content: string): Hostile => ({
  files: { 'main.tf': main },
  prepare: (folder) =>
    writeFile(Buffer.concat([Buffer.from(`${folder}/a`), Buffer.from(bytes), Buffer.from('.tf')]), content),
})
const program = 'data "external" "x" {\n  program = ["id"]\n}\n'
for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0x80]])
  refused(
    UNSEEN,
    `a name with the bytes ${bytes.map((byte) => byte.toString(16)).join(' ')}`,
    raw(bytes, program),
    'not UTF-8',
  )
const HCL_NAMES = ['x.tofu', 'x_override.tf', 'override.tofu', '-x.tf', 'ä.tf', ' .tf', '\n.tf']
for (const name of [...HCL_NAMES, 'x.tofu.json', 'x.tf.json'])
  refused(
    UNSEEN,
    JSON.stringify(name),
    { files: { 'main.tf': main, [name]: name.endsWith('.json') ? '{"data": {"external": {"x": {}}}}' : program } },
    'data "external"',
  )
refused(UNSEEN, 'a byte order mark', `\uFEFF${program}`, 'data "external"')
refused(
  UNSEEN,
  'a link to a file of another suffix',
  linked('x.tf', 'notes.txt', { 'notes.txt': program }),
  'data "external"',
)
refused(
  UNSEEN,
  'a file that is linked twice',
  {
    files: { 'main.tf': main, 'notes.txt': program },
    prepare: (folder) => link(join(folder, 'notes.txt'), join(folder, 'x.tf')),
  },
  'data "external"',
)

test('ordinary files are not refused', async () => {
  const files = {
    'root/main.tf':
      `locals {\n  a = file("../shared.txt")\n  b = "${open}path.module}/x.txt"\n  c = file("${open}path.module}/x.txt")\n` +
      '  d = fileset(path.module, "*.txt")\n  e = file(join("/", ["x.txt"]))\n}\noutput "c" {\n  value = local.c\n}\n',
    'root/x.txt': 'x',
    'shared.txt': 'y',
    'root/terraform.tfvars': '',
    'root/.terraform/environment': 'default',
  }
  const prepare = (folder: string) => symlink('../shared.txt', join(folder, 'root', 'linked.txt'))
  const answers = await submitHostile(service, { files, prepare, root: 'root' })
  for (const { result } of answers) expect(result).toMatchObject({ exit_code: 0 })
})
