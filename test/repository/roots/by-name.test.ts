import { describe, expect, it } from 'vitest'
import { selectRootModules } from '../../../src/repository/roots/by-name.ts'

describe('root modules by name', () => {
  it.each<[string, string[], string[]]>([
    ['nothing in an empty repository', [], []],
    ['nothing without engine files', ['README.md', 'src/main.py', 'main.tf.json', 'x.tfvars'], []],
    ['the repository root as a dot', ['main.tf'], ['.']],
    ['an unmarked root', ['network.tf'], ['.']],
    [
      'each marker file',
      ['a/main.tf', 'b/provider.tf', 'c/providers.tf', 'd/backend.tf', 'e/terraform.tf', 'f/versions.tf'],
      ['a', 'b', 'c', 'd', 'e', 'f'],
    ],
    ['roots in files of OpenTofu', ['a/main.tofu', 'a/part/x.tf', 'b/net.tofu', 'c/main.tofu.json'], ['a', 'b']],
    ['a marker wherever it stands among its directory', ['a/b/x.tf', 'a/dns.tf', 'a/main.tf', 'a/zone.tf'], ['a']],
    ['variable files as markers', ['a/x.tf', 'a/prod.tfvars', 'b/x.tf', 'b/auto.tfvars.json'], ['a', 'b']],
    ['no directory with variables alone', ['a/prod.tfvars', 'b/x.tf'], ['b']],
    [
      'no modules, examples or caches',
      ['modules/net/main.tf', 'examples/a/main.tf', 'a/example/main.tf', '.terraform/x/main.tf', 'a/modules/main.tf'],
      [],
    ],
    [
      'names that merely resemble the excluded ones',
      ['my-modules/main.tf', 'example1/main.tf'],
      ['example1', 'my-modules'],
    ],
    [
      'marked directories below a marked root',
      ['main.tf', 'live/main.tf', 'live/prod/main.tf'],
      ['.', 'live', 'live/prod'],
    ],
    ['no unmarked directory below a marked root', ['live/main.tf', 'live/part/x.tf', 'live/part/deep/y.tf'], ['live']],
    [
      'unmarked leaves instead of their unmarked parents',
      ['live/x.tf', 'live/a/y.tf', 'live/b/z.tf'],
      ['live/a', 'live/b'],
    ],
    ['an unmarked parent of a marked child only through the child', ['live/x.tf', 'live/prod/main.tf'], ['live/prod']],
    ['a repository root that neither absorbs others', ['main.tf', 'net/x.tf'], ['.', 'net']],
    ['nor is blocked by them', ['x.tf', 'net/main.tf'], ['.', 'net']],
    ['siblings with a common prefix apart', ['live/main.tf', 'live-old/x.tf'], ['live', 'live-old']],
    ['an excluded child does not hide its parent', ['net/x.tf', 'net/modules/a/main.tf'], ['net']],
    [
      'code-point order',
      ['b/main.tf', 'B/main.tf', 'a-1/main.tf', 'a/main.tf', 'ü/main.tf', '\u{1F600}/main.tf', '\uFF5E/main.tf'],
      ['B', 'a', 'a-1', 'b', 'ü', '\uFF5E', '\u{1F600}'],
    ],
    ['letter case of extensions', ['a/MAIN.TF', 'b/main.tf'], ['b']],
    ['odd names', ['a\nb/main.tf', ' /main.tf'], [' ', 'a\nb']],
  ])('finds %s', async (_, files, roots) => {
    expect(await selectRootModules(files)).toEqual(roots)
  })

  it('stays fast with many directories', async () => {
    const files = Array.from({ length: 20_000 }, (_, index) => `live/${index}/x.tf`)
    expect(await selectRootModules(files)).toHaveLength(20_000)
  })
})
