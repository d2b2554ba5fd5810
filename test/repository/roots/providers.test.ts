import { describe, expect, it } from 'vitest'
import { createSlices } from '../../../src/base/slices.ts'
import { readFolders } from '../../../src/repository/roots/folders.ts'
import { findProviders } from '../../../src/repository/roots/providers.ts'

async function providersOf(tree: Record<string, string>) {
  const files = Object.keys(tree).map((path) => ({ path, hash: path, isLink: false }))
  const read = ({ path }: { path: string }) => tree[path] ?? null
  const { folders } = await readFolders(files, { name: 'infra', read, slices: createSlices() })
  return findProviders(folders.values())
}
const sourcesOf = async (tree: Record<string, string>) => (await providersOf(tree)).map(({ source }) => source)

const required = (entries: string) => `terraform {\n  required_providers {\n${entries}\n  }\n}\n`
const LINODE = required('linode = {\n source = "linode/linode"\n version = "~> 2.0"\n }')

describe('the providers of code', () => {
  it.each<[string, Record<string, string>, string[]]>([
    ['declared', { 'a.tf': LINODE }, ['linode/linode']],
    ['configured', { 'a.tf': 'provider "aws" {\n  region = "eu-west-1"\n}' }, ['hashicorp/aws']],
    [
      'implied by types',
      {
        'a.tf':
          'resource "random_pet" "a" {}\ndata "tls_certificate" "a" {\n url = ""\n}\nephemeral "vault_token" "t" {}\n' +
          'resource "terraform_data" "none" {}',
      },
      ['hashicorp/random', 'hashicorp/tls', 'hashicorp/vault'],
    ],
    [
      'named by an argument',
      {
        'a.tf': `${LINODE}resource "google_x" "a" {\n  provider = google-beta.eu\n}\nresource "x_y" "b" {\n  provider = linode\n}`,
      },
      ['hashicorp/google-beta', 'linode/linode'],
    ],
    [
      'of another name',
      { 'a.tf': `${required('dns = {\n source = "Acme/Names"\n }')}resource "dns_a" "b" {}` },
      ['acme/names'],
    ],
    [
      'with a host, or without a namespace',
      {
        'a.tf': required(
          'one = {\n source = "registry.example.com/acme/one"\n }\ntwo = {\n source = "two"\n }\nthree = "~> 1.0"',
        ),
      },
      ['acme/one', 'hashicorp/three', 'hashicorp/two'],
    ],
    ['of a module of a registry', { 'a.tf': 'module "v" {\n  source = "acme/net/aws//sub"\n}' }, ['hashicorp/aws']],
    [
      'declared in another folder',
      { 'a/x.tf': LINODE, 'b/x.tf': 'resource "linode_instance" "b" {}' },
      ['linode/linode'],
    ],
    [
      'in JSON',
      {
        'a.tf.json': JSON.stringify({
          terraform: { required_providers: { linode: { source: 'linode/linode' } } },
          provider: { cloudflare: {} },
          resource: { random_pet: { a: {} }, google_x: { b: [{ provider: 'google-beta.eu' }] } },
        }),
      },
      ['hashicorp/cloudflare', 'hashicorp/google-beta', 'hashicorp/random', 'linode/linode'],
    ],
    [
      'in comments, texts and files of others',
      { 'a.tf': '# provider "aws" {}\n', 'b.txt': LINODE, 'c.tftest.hcl': 'provider "aws" {}' },
      [],
    ],
    [
      'with a source that only the engine could read',
      { 'a.tf': required('x = {\n source = "$' + '{a}/x y"\n }') },
      ['hashicorp/x'],
    ],
  ])('are known when they are %s', async (_, tree, sources) => {
    expect(await sourcesOf(tree)).toEqual(sources)
  })

  it('are of a cloud, or of none', async () => {
    const text = ['aws', 'google-beta', 'azurerm', 'oci', 'helm', 'linode', 'random'].map(
      (name) => `provider "${name}" {}`,
    )
    const clouds = Object.fromEntries(
      (await providersOf({ 'a.tf': text.join('\n') })).map(({ source, cloud }) => [source, cloud]),
    )
    expect(clouds).toEqual({
      ...{
        'hashicorp/aws': 'aws',
        'hashicorp/google-beta': 'gcp',
        'hashicorp/azurerm': 'azure',
        'hashicorp/oci': 'oci',
      },
      ...{ 'hashicorp/helm': 'kubernetes', 'hashicorp/linode': null, 'hashicorp/random': null },
    })
  })

  it('are not more than a repository can have', async () => {
    const text = Array.from({ length: 1_001 }, (_, index) => `provider "p${index}" {}`).join('\n')
    await expect(providersOf({ 'a.tf': text })).rejects.toThrow('more than 1000 providers')
  })
})
