import { expect, test } from 'vitest'
import { type Hostile, provideGuarded, submitHostile } from './guarded.ts'

const { service, refused } = provideGuarded()

const open = '$' + '{'
const module = (source: string) => `module "m" {\n  source = ${source}\n}\n`
const quoted = (source: string) => module(JSON.stringify(source))

const MODULES = 'module sources outside of the workspace'
const LEAVES: [string, string][] = [
  ['../../other', 'climbs out'],
  ['./../../other', 'climbs out'],
  ['./a/../../../other', 'climbs out'],
  ['..', 'climbs out'],
  ['../..//other', 'climbs out'],
  ['/etc', 'of this machine'],
  ['~/modules', 'of this machine'],
  ['file:///etc', 'file'],
  ['FILE:///etc', 'file'],
  ['file::/etc', 'file'],
  ['git::/srv/repository', 'of this machine'],
  ['git::./repository', 'module'],
  ['git::file:///srv/repository', 'file'],
  ['GIT::FILE:///srv/repository', 'file'],
  ['git::git::file:///srv/repository', 'file'],
  ['git::ext::sh -c id', 'ext'],
  ['git::ext://sh', 'ext'],
  ['hg::https://example.com/x', 'hg'],
  ['git::https://example.com/x.git//../../etc', 'climbs out'],
]
for (const [source, text] of LEAVES) refused(MODULES, source, quoted(source), 'main.tf line 2', text)

refused(MODULES, 'a source with escapes', module('"\\u002e./../../other"'), 'climbs out')
refused(MODULES, 'a source from a variable', module('var.x'), 'literally')
refused(MODULES, 'a source that ends in a variable', module(`"../../${open}var.x}"`), 'climbs out')
for (const source of [`./${open}var.x}`, `./a/${open}var.x}/b`, `https://${open}var.x}/m.zip`, `git::${open}var.x}`])
  refused(MODULES, `a source with a variable that says where it leads: ${source}`, module(`"${source}"`), 'literally')
refused(MODULES, 'in JSON', { files: { 'main.tf.json': '{"module": {"m": {"source": "/etc"}}}' } }, 'of this machine')
refused(MODULES, 'in a file for the other engine', { files: { 'main.tofu': quoted('/etc') } }, 'main.tofu')
refused(
  MODULES,
  'in a test file, which init reads',
  {
    files: {
      'main.tf': 'locals {\n}\n',
      'tests/x.tftest.hcl': `run "x" {\n  ${quoted('../../other')}}\n`.replace('module "m"', 'module'),
    },
    kinds: ['init'],
  },
  'x.tftest.hcl',
)
const nested = { 'main.tf': quoted('./m'), 'm/main.tf': quoted('../../other') }
refused(MODULES, 'in a module of the repository', { files: nested }, 'm/main.tf')

const ADDRESSES = 'connections to the machine in any spelling'
const HOSTS: [string, string][] = [
  ['127.0.0.1', 'this machine'],
  ['localhost', 'this machine'],
  ['LOCALHOST', 'this machine'],
  ['localhost.', 'this machine'],
  ['x.localhost', 'this machine'],
  ['2130706433', 'this machine'],
  ['0x7f000001', 'this machine'],
  ['0x7f.1', 'this machine'],
  ['0177.0.0.1', 'this machine'],
  ['127.1', 'this machine'],
  ['0.0.0.0', 'this machine'],
  ['0', 'this machine'],
  ['[::1]', 'this machine'],
  ['[::]', 'this machine'],
  ['[::ffff:127.0.0.1]', 'this machine'],
  ['[::ffff:7f00:1]', 'this machine'],
  ['[64:ff9b::7f00:1]', 'this machine'],
  ['[0:0:0:0:0:0:0:1]', 'this machine'],
  ['user:word@127.0.0.1', 'this machine'],
  ['example.com@127.0.0.1', 'this machine'],
  ['%31%32%37.0.0.1', 'this machine'],
  ['１２７.0.0.1', 'this machine'],
  ['127。0。0。1', 'this machine'],
  ['127.0.0.1.nip.io', 'this machine'],
  ['169.254.169.254', 'link-local'],
  ['2852039166', 'link-local'],
  ['[fd00:ec2::254]', 'link-local'],
  ['[fe80::1]', 'link-local'],
  ['metadata.google.internal', 'link-local'],
  ['10.0.0.1', 'a private network'],
  ['010.0.0.1', 'a private network'],
  ['192.168.1.1', 'a private network'],
  ['172.16.0.1', 'a private network'],
  ['100.64.0.1', 'a private network'],
  ['[fd00::1]', 'a private network'],
]
for (const [host, text] of HOSTS)
  refused(ADDRESSES, `a module from https://${host}`, quoted(`https://${host}:8443/m.zip`), text)
for (const [title, source] of [
  ['git over ssh', 'git::ssh://git@127.0.0.1/x.git'],
  ['git in short form', 'git@localhost:x.git'],
  ['git with a forced scheme in short form', 'git::git@127.0.0.1:x.git'],
  ['an object store', 's3::http://127.0.0.1:9000/bucket/m.zip'],
  ['a registry of modules', 'localhost:8080/a/b/c'],
  ['a registry of images', 'oci://127.0.0.1:5000/x'],
] as const)
  refused(ADDRESSES, `a module from ${title}`, quoted(source), 'this machine')

const CONNECTIONS: [string, Hostile | string][] = [
  [
    'a registry of providers',
    'terraform {\n  required_providers {\n    x = {\n      source = "localhost:8080/a/b"\n    }\n  }\n}\n',
  ],
  [
    'a registry of providers in the lock file',
    { files: { 'main.tf': '', '.terraform.lock.hcl': 'provider "127.0.0.1/a/b" {\n  version = "1.0.0"\n}\n' } },
  ],
  ['an endpoint of a provider', 'provider "aws" {\n  endpoints {\n    s3 = "http://0x7f.1:9000"\n  }\n}\n'],
  ['a host of a provider', 'provider "postgresql" {\n  host = "localhost"\n}\n'],
  ['a socket of a provider', 'provider "docker" {\n  host = "unix:///var/run/docker.sock"\n}\n'],
  ['a request at plan', 'data "http" "x" {\n  url = "http://127.1:8082/v1/engine"\n}\n'],
  ['a request at plan inside of a check', 'check "c" {\n  data "http" "x" {\n    url = "http://[::1]/"\n  }\n}\n'],
]
for (const [title, hostile] of CONNECTIONS) refused(ADDRESSES, title, hostile, 'this machine')

test('ordinary sources are not refused', async () => {
  const files: Record<string, string> = {
    'root/main.tf': quoted('../shared').replace('"m"', '"a"') + quoted('./deep').replace('"m"', '"b"'),
    'shared/main.tf': 'locals {\n}\n',
    'root/deep/main.tf': module('"../../shared"'),
  }
  const [answer] = await submitHostile(service, { files, root: 'root', kinds: ['init'] })
  expect(answer.result).toMatchObject({ exit_code: 0 })
  for (const source of [
    'hashicorp/consul/aws',
    'app.terraform.io/a/b/c',
    'github.com/a/b//sub?ref=v1',
    'git@github.com:a/b.git',
    's3::https://s3-eu-west-1.amazonaws.com/b/m.zip',
    'git::ssh://git@example.com/a/b.git?ref=x',
  ]) {
    const [valid] = await submitHostile(service, { files: { 'main.tf': quoted(source) }, kinds: ['validate'] })
    expect(valid.result.stderr).not.toContain('Reach beyond')
  }
})
