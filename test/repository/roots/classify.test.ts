import { describe, expect, it } from 'vitest'
import { createSlices } from '../../../src/base/slices.ts'
import { classifyRoots } from '../../../src/repository/roots/classify.ts'
import { readFolders } from '../../../src/repository/roots/folders.ts'

/** Files by path; a text that begins with `-> ` is a link. */
type Tree = Record<string, string>

const LINK = '-> '
const BACKEND = 'terraform {\n  backend "s3" {}\n}\n'
const PROVIDER = 'provider "aws" {\n  region = "eu-west-1"\n}\n'
const BUCKET = 'resource "aws_s3_bucket" "logs" {}\nvariable "name" {}\n'
const calls = (source: string): string => `module "net" {\n  source = "${source}"\n}\n`

async function rootsOf(tree: Tree, name = 'infra') {
  const files = Object.entries(tree).map(([path, text]) => ({ path, hash: text, isLink: text.startsWith(LINK) }))
  const read = ({ hash }: { hash: string }) => (hash === '?' ? null : hash.replace(LINK, ''))
  const { folders, unread } = await readFolders(files, { name, read, slices: createSlices() })
  const roots = classifyRoots(folders, name).map(({ path, kind }) => (kind === 'root' ? path : `${path} (${kind})`))
  return { roots: roots.sort(), unread }
}

describe('root modules by contents', () => {
  it.each<[string, Tree, string[]]>([
    ['no folder without code', { 'README.md': '# x', 'live/prod.tfvars': '', 'Chart.yaml': '' }, []],
    ['a folder with a backend, whatever its files are called', { 'dns/zones.tf': BACKEND }, ['dns']],
    ['a folder with a cloud block', { 'dns/x.tf': 'terraform {\n  cloud {}\n}' }, ['dns']],
    ['a root that another one calls', { 'a/x.tf': BACKEND, 'b/x.tf': BACKEND + calls('../a') }, ['a', 'b']],
    [
      'no backend in a comment or a text',
      { 'a/x.tf': `# ${BACKEND.replaceAll('\n', ' ')}\n${BUCKET}`, 'b/x.tf': '' },
      [],
    ],
    ['a provider beside a resource', { 'a/x.tf': PROVIDER + BUCKET, 'b/x.tf': PROVIDER }, ['a']],
    ['a provider in another file', { 'a/x.tf': PROVIDER, 'a/y.tf': BUCKET, 'b/x.tf': BUCKET }, ['a']],
    ['a lock file', { 'a/x.tf': BUCKET, 'a/.terraform.lock.hcl': '', 'b/x.tf': BUCKET }, ['a']],
    ['values', { 'a/x.tf': BUCKET, 'a/prod.tfvars': '', 'b/x.tf': BUCKET, 'b/x.auto.tfvars.json': '' }, ['a', 'b']],
    ['no values of others', { 'a/x.tf': BUCKET, 'b/x.tf': BUCKET, 'a/values/prod.tfvars': '' }, []],
    ['files of OpenTofu', { 'a/x.tofu': PROVIDER + BUCKET, 'b/x.tofu': BUCKET }, ['a']],
    [
      'files in JSON, as an object and as a list',
      {
        'a/x.tf.json': '{"provider":{"aws":{}},"resource":{"aws_vpc":{"v":{}}}}',
        'b/x.tofu.json': '[{"terraform":[{"backend":{"s3":{}}}]}]',
        'c/x.tf.json': '{"resource":{},"variable":{}}',
        'd/x.tf.json': '{"module":{"m":[{"source":"../e"}]},"provider":{"aws":{}}}',
        'e/x.tf': PROVIDER + BUCKET,
        'f/x.tf.json': 'broken',
        'g/x.tf.json': '{"terraform":{"cloud":{}}}',
      },
      ['a', 'b', 'd', 'g'],
    ],
    [
      'code behind links',
      { 'a/x.tf': '-> ../b/x.tf', 'b/x.tf': '-> ../c/x.txt.tf', 'c/x.txt.tf': BACKEND },
      ['a', 'b', 'c'],
    ],
    ['a broken file as far as it can be read', { 'a/x.tf': `${BACKEND}resource "a" {` }, ['a']],
    ['no cache of the engine', { 'a/.terraform/modules/x/x.tf': BACKEND, 'a/.terragrunt-cache/x/x.tf': BACKEND }, []],
  ])('are %s', async (_, tree, roots) => {
    expect((await rootsOf(tree)).roots).toEqual(roots)
  })

  it.each<[string, Tree, string[]]>([
    ['a local path', { 'a/x.tf': BACKEND + calls('../net//'), 'net/x.tf': PROVIDER + BUCKET }, ['a']],
    ['a path without a dot', { 'a/x.tf': BACKEND + calls('parts/net'), 'a/parts/net/x.tf': PROVIDER + BUCKET }, ['a']],
    ['its parent', { 'a/b/x.tf': BACKEND + calls('..'), 'a/x.tf': PROVIDER + BUCKET }, ['a/b']],
    [
      'JSON',
      { 'a/x.tf.json': '{"module":{"n":{"source":"../n"}}}', 'n/x.tf': PROVIDER + BUCKET, 'a/p.tfvars': '' },
      ['a'],
    ],
    [
      'git',
      {
        'a/x.tf': BACKEND + calls('git::ssh://git@github.com/acme/Infra.git//net?ref=v1'),
        'net/x.tf': PROVIDER + BUCKET,
      },
      ['a'],
    ],
    ['a host', { 'a/x.tf': BACKEND + calls('github.com/acme/infra'), 'x.tf': PROVIDER + BUCKET }, ['a']],
    [
      'Terragrunt',
      {
        'live/a/terragrunt.hcl': 'terraform {\n  source = "../..//live/net?ref=v1"\n}',
        'live/b/terragrunt.hcl': 'terraform {\n  source = "$' + '{get_repo_root()}/parts//db"\n}',
        'live/c/terragrunt.hcl': 'locals { base = "$' + '{dirname(find_in_parent_folders())}/cache" }',
        'live/e/terragrunt.hcl': 'terraform {\n  source = "$' + '{local.base}//web"\n}',
        'live/d/terragrunt.hcl': 'terraform {\n  source = "git::../../queue"\n}',
        'live/net/x.tf': PROVIDER + BUCKET,
        'parts/db/x.tf': PROVIDER + BUCKET,
        'queue/x.tf': PROVIDER + BUCKET,
        'cache/x.tf': PROVIDER + BUCKET,
        'one/web/x.tf': PROVIDER + BUCKET,
        'two/web/x.tf': PROVIDER + BUCKET,
      },
      ['cache', 'one/web', 'two/web'],
    ],
    [
      'a stack',
      {
        'app.tfcomponent.hcl': 'component "n" {\n  source = "./net"\n}',
        '.terraform.lock.hcl': '',
        'net/x.tf': PROVIDER + BUCKET,
      },
      [],
    ],
    [
      'a CDKTF app',
      {
        'cdktf.json': '{"terraformModules":["./a",{"name":"b","source":"./b"}]}',
        'a/x.tf': PROVIDER + BUCKET,
        'b/x.tf': PROVIDER + BUCKET,
      },
      [],
    ],
    [
      'a test',
      { 'net/x.tf': PROVIDER + BUCKET, 'net/tests/a.tftest.hcl': 'run "a" {\n  module {\n    source = "./"\n  }\n}' },
      [],
    ],
    [
      'no other repository',
      { 'a/x.tf': BACKEND + calls('github.com/acme/other//net'), 'net/x.tf': PROVIDER + BUCKET },
      ['a', 'net'],
    ],
    ['nothing outside', { 'a/x.tf': BACKEND + calls('../../net'), 'net/x.tf': PROVIDER + BUCKET }, ['a', 'net']],
    ['no comment', { 'a/x.tf': `${BACKEND}/* ${calls('../net')} */`, 'net/x.tf': PROVIDER + BUCKET }, ['a', 'net']],
  ])('are no folders that are called by %s', async (_, tree, roots) => {
    expect((await rootsOf(tree)).roots).toEqual(roots)
  })

  it('are no module of a registry that calls itself by its name there', async () => {
    const tree = {
      'main.tf': PROVIDER + BUCKET,
      'modules/a/x.tf': PROVIDER + BUCKET,
      'examples/full/x.tf': calls('acme/net/aws') + calls('app.terraform.io/acme/net/aws//modules/a'),
    }
    expect((await rootsOf(tree, 'terraform-aws-net')).roots).toEqual(['examples/full (example)'])
  })

  it.each<[string, Tree, string[], string?]>([
    [
      'below modules need a provider or a backend',
      {
        'modules/a/x.tf': PROVIDER + BUCKET,
        'modules/b/x.tf': BUCKET,
        'modules/b/.terraform.lock.hcl': '',
        'modules/c/x.tf': BUCKET,
        'modules/c/prod.tfvars': '',
        'modules/d/x.tf': BACKEND,
        'wrappers/a/x.tf': calls('../../modules/b'),
      },
      ['modules/a', 'modules/d'],
    ],
    [
      'without a sign call modules elsewhere, and are in no root',
      {
        'stages/1/x.tf': calls('../../parts/net') + BUCKET,
        'stages/2/x.tf': BUCKET,
        'stages/3/x.tf': calls('./part'),
        'stages/3/part/x.tf': BUCKET,
        'live/x.tf': BACKEND,
        'live/old/x.tf': calls('../../parts/net'),
        'parts/net/x.tf': BUCKET,
        'parts/net/each/x.tf': calls('..') + BUCKET,
      },
      ['live', 'stages/1'],
    ],
    [
      'without a sign have resources and no variables, and are in no root',
      {
        'batch/x.tf': 'resource "terraform_data" "x" {}',
        'shared/x.tf': 'data "http" "x" {}',
        'modules/a/x.tf': 'resource "terraform_data" "x" {}',
        'live/x.tf': BACKEND,
        'live/old/x.tf': 'resource "terraform_data" "x" {}',
      },
      ['batch', 'live'],
    ],
    ['are all code of their repository', { 'net/x.tf': BUCKET }, ['net']],
    [
      'are examples in a repository of them',
      { 'a/x.tf': BUCKET, 'b/x.tf': BUCKET },
      ['a (example)', 'b (example)'],
      'tf-samples',
    ],
    ['are no module on its own', { 'x.tf': BUCKET }, [], 'terraform-aws-net'],
    [
      'are units with code of their own',
      {
        'a/terragrunt.hcl': '',
        'a/x.tf': BUCKET,
        'b/terragrunt.hcl': '',
        'b/x.tf': 'variable "x" {}',
        'c/terragrunt.hcl': '',
      },
      ['a'],
    ],
  ])('%s', async (_, tree, roots, name) => {
    expect((await rootsOf(tree, name)).roots).toEqual(roots)
  })

  it.each<[string, Tree, string[]]>([
    [
      'examples and tests, without a sign too',
      {
        'x.tf': BUCKET,
        'examples/a/x.tf': calls('../..'),
        'examples/b/x.tf': 'variable "x" {}',
        'test/setup/x.tf': BUCKET,
        'v1-examples/a/x.tf': BUCKET,
        'modules/a/recipe-b/x.tf': BUCKET,
        'examples/c/modules/d/x.tf': BUCKET,
      },
      ['examples/a (example)', 'modules/a/recipe-b (example)', 'test/setup (test)', 'v1-examples/a (example)'],
    ],
    [
      'an example that a test calls, and a test that a test file runs',
      {
        'x.tf': BUCKET,
        'examples/a/x.tf': calls('../..'),
        'test/fixtures/a/x.tf': calls('../../../examples/a'),
        'examples/b/x.tf': calls('../../'),
        'examples/all/x.tf': calls('../b'),
        'tests/a.tftest.hcl': 'run "x" {\n  module {\n    source = "./tests/setup"\n  }\n}',
        'tests/setup/x.tf': BUCKET,
      },
      ['examples/a (example)', 'examples/all (example)', 'test/fixtures/a (test)', 'tests/setup (test)'],
    ],
    [
      'no environments of such names',
      {
        'environments/example/x.tf': BACKEND,
        'environments/test/x.tf': BACKEND,
        'live/testing/terragrunt.hcl': '',
        'live/testing/x.tf': BUCKET,
        'tests/live/x.tf': BACKEND,
      },
      ['environments/example', 'environments/test', 'live/testing', 'tests/live (test)'],
    ],
  ])('mark %s', async (_, tree, roots) => {
    expect((await rootsOf(tree)).roots).toEqual(roots)
  })

  it('count the files that could not be read', async () => {
    const long = 'x = 1\n'.repeat(40_000)
    const tree = { 'a/x.tf': BACKEND, 'a/y.tf': '?', 'b/x.tf': '-> ../../x.tf', 'c/x.tf': '-> x.tf', 'd/x.tf': long }
    expect(await rootsOf(tree)).toEqual({ roots: ['a'], unread: 4 })
  })

  it('stay fast with many folders, links and calls', async () => {
    const started = performance.now()
    const text = calls('../f0').repeat(100)
    const tree: Tree = { 'f0/x.tf': BACKEND, 'long/x.tf': text }
    for (let index = 1; index < 1_500; index++) tree[`f${index}/x.tf`] = '-> ../long/x.tf'
    expect((await rootsOf(tree)).roots).toContain('f0')
    expect(performance.now() - started).toBeLessThan(5_000)
    for (let index = 1_500; index < 2_100; index++) tree[`f${index}/x.tf`] = '-> ../long/x.tf'
    await expect(rootsOf(tree)).rejects.toThrow('calls more than')
  })
})
