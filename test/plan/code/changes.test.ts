import { describe, expect, it } from 'vitest'
import { readCodeChanges } from '../../../src/plan/code/changes.ts'
import { readCodeBlocks } from '../../../src/plan/code/modules.ts'

/** Returns the changes of a diff that replaces whole files, and the resulting files. */
function changesOf(before: Record<string, string>, after: Record<string, string>, others: Record<string, string> = {}) {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const diff = paths.map((path) => diffOfFile(path, before[path], after[path])).join('')
  const files = Object.entries({ ...others, ...after }).filter(([path]) => path.endsWith('.tf'))
  const changes = readCodeChanges(
    diff,
    files.map(([path, text]) => ({ path, text })),
  )
  return { ...changes, addresses: changes.blocks.map(({ address }) => address) }
}

function diffOfFile(path: string, before: string | undefined, after: string | undefined): string {
  const [old, fresh] = [before?.split('\n') ?? [], after?.split('\n') ?? []]
  return [
    `diff --git ${path} ${path}`,
    `--- ${before === undefined ? '/dev/null' : path}`,
    `+++ ${after === undefined ? '/dev/null' : path}`,
    `@@ -${old.length > 0 ? 1 : 0},${old.length} +${fresh.length > 0 ? 1 : 0},${fresh.length} @@`,
    ...old.map((line) => `-${line}`),
    ...fresh.map((line) => `+${line}`),
    '',
  ].join('\n')
}

const resource = (name: string, body = '  input = 1') => `resource "x" "${name}" {\n${body}\n}\n`
const module = (name: string, source: string) => `module "${name}" {\n  source = "${source}"\n}\n`

describe('the blocks of the root', () => {
  it('are named when they were added, changed or removed', () => {
    const before = { 'main.tf': resource('same') + resource('changed') + resource('gone') + module('net', './net') }
    const after = { 'main.tf': resource('same') + resource('changed', '  input = 2') + resource('added') }
    expect(changesOf(before, after).addresses.toSorted()).toEqual(['module.net', 'x.added', 'x.changed', 'x.gone'])
  })

  it.each([
    ['the indentation in a heredoc', '  input = <<-Y\n    a:\n      b\n  Y', '  input = <<-Y\n    a:\n        b\n  Y'],
    ['blanks in a text', '  input = "a b"', '  input = "a  b"'],
    ['the last digit of a big number', '  input = 9007199254740992', '  input = 9007199254740993'],
  ])('are named for a change of %s', (_, before, after) => {
    expect(changesOf({ 'a.tf': resource('a', before) }, { 'a.tf': resource('a', after) }).addresses).toEqual(['x.a'])
  })

  it('are named when a comment stands in their header', () => {
    const code = (value: number) => `resource /* old } */ "x" "a" {\n  lifecycle {\n  }\n  input = ${value}\n}\n`
    expect(changesOf({ 'a.tf': code(1) }, { 'a.tf': code(2) }).addresses).toEqual(['x.a'])
  })

  it('are named without index when they have many instances', () => {
    const many = `  count = 2\n  input = { for k in ["}"] : k => "\${k}" }`
    expect(changesOf({ 'a.tf': resource('a') }, { 'a.tf': resource('a', many) }).addresses).toEqual(['x.a'])
  })

  it.each([
    ['comments', { 'a.tf': resource('a') }, { 'a.tf': `# why\n${resource('a', '  # how\n  input = 1')}` }],
    [
      'layout and line endings',
      { 'a.tf': resource('a') },
      { 'a.tf': resource('a', '  input   = 1').replaceAll('\n', '\r\n') },
    ],
    ['another file', { 'a.tf': resource('a') + resource('b') }, { 'a.tf': resource('a'), 'b.tf': resource('b') }],
    ['a file of another name', { 'a.tf': resource('a') }, { 'b.tf': resource('a') }],
    ['a value that others use', { 'a.tf': 'locals {\n  x = 1\n}\n' }, { 'a.tf': 'locals {\n  x = 2\n}\n' }],
    [
      'variables, outputs and data sources',
      { 'a.tf': '' },
      { 'a.tf': 'variable "v" {}\noutput "o" {\n  value = 1\n}\ndata "d" "e" {}\n' },
    ],
    ['a file with another ending', {}, { 'a.tf.bak': resource('a'), 'main.tfx': resource('b') }],
    ['a file that nobody calls', {}, { 'modules/x/main.tf': resource('a') }],
  ] as const)('are not named for a change of %s', (_, before, after) => {
    expect(changesOf(before, after).addresses).toEqual([])
  })

  it('are not named for a file whose present text is not known', () => {
    expect(readCodeChanges(diffOfFile('a.tf', resource('a'), resource('b')), []).blocks).toEqual([])
    const path = 'a.tofu'
    const files = [{ path, text: resource('a') }]
    expect(readCodeChanges(diffOfFile(path, undefined, resource('a')), files).blocks).toHaveLength(1)
  })

  it('include names of letters outside of ASCII', () => {
    const code = 'moved {\n  from = x.ветка["ключ"]\n  to = module.größe.x.网络\n}\n'
    expect(changesOf({}, { 'main.tf': code }).mentioned).toEqual(['x.ветка["ключ"]', 'module.größe.x.网络'])
  })

  it('include what removed and import blocks name', () => {
    const after = {
      'a.tf':
        'removed {\n  from = x.a\n}\nimport {\n  for_each = local.ids\n  to       = x.b[each.key]\n  id = each.value\n}\n',
    }
    const { addresses, mentioned } = changesOf({}, after)
    expect(addresses).toEqual(['x.a', 'x.b'])
    expect(mentioned).toEqual(['x.a', 'x.b'])
  })
})

describe('modules', () => {
  const calls = {
    'main.tf': module('one', './modules/a') + module('two', './modules/a/') + module('far', 'git::https://x/y'),
    'modules/a/main.tf': `${module('deep', '../b')}`,
    'modules/b/main.tf': resource('r'),
  }

  it('stand for their files, in every place that calls them', () => {
    const { blocks } = changesOf(
      { 'modules/b/main.tf': resource('r', '  input = 0') },
      { 'modules/b/main.tf': resource('r') },
      calls,
    )
    expect(blocks).toEqual([
      { address: 'module.one.module.deep', exact: 'module.one.module.deep.x.r' },
      { address: 'module.two.module.deep', exact: 'module.two.module.deep.x.r' },
    ])
  })

  it.each([
    ['a local', { 'modules/a/locals.tf': 'locals {\n  a = 1\n}\n' }, ['module.one', 'module.two']],
    ['a variable', { 'modules/a/v.tf': 'variable "v" {}\n' }, ['module.one', 'module.two']],
    ['a data source', { 'modules/a/d.tf': 'data "d" "e" {}\n' }, ['module.one', 'module.two']],
    ['a template', { 'modules/a/files/user-data.tpl': 'x' }, ['module.one', 'module.two']],
    ['an output', { 'modules/a/outputs.tf': 'output "a" {\n  value = 1\n}\n' }, []],
    ['a page for people', { 'modules/a/README.md': 'x' }, []],
    ['a template of the root', { 'files/user-data.tpl': 'x' }, []],
  ])('stand for %s in their folder', (_, after, expected) => {
    expect(changesOf({}, after, calls).addresses).toEqual(expected)
  })

  it('stand for a file of the next folder above that is called', () => {
    const nested = { ...calls, 'main.tf': module('outer', './modules') + module('inner', './modules/a') }
    const of = (path: string) => changesOf({}, { [path]: 'x' }, nested).addresses
    expect(of('modules/a/b/c/x.sh')).toEqual(['module.inner'])
    expect(of('modules/c/x.sh')).toEqual(['module.outer'])
    expect(of('other/x.sh')).toEqual([])
  })

  it('that call each other come to an end', () => {
    const after = {
      'main.tf': module('a', './a'),
      'a/main.tf': module('b', '../b') + resource('r'),
      'b/main.tf': module('a', '../a'),
    }
    expect(changesOf({}, after).addresses[0]).toBe('module.a')
  })
})

describe('moves', () => {
  const move = (from: string, to: string) => `moved {\n  from = ${from}\n  to = ${to} # now\n}\n`

  it('that the session added have two sides, as the root writes them', () => {
    const before = { 'main.tf': move('x.old', 'x.older'), 'm/main.tf': '' }
    const after = {
      'main.tf': move('x.old', 'x.older') + move('x.a', 'module.m["k"].x.b') + module('m', './m'),
      'm/main.tf': move('x.b', 'x.c["d.e"]'),
    }
    const { moved, mentioned } = changesOf(before, after)
    expect(moved).toEqual(['x.a', 'module.m["k"].x.b', 'module.m.x.b', 'module.m.x.c["d.e"]'])
    expect(mentioned).toEqual(expect.arrayContaining(['x.old', 'x.older', ...moved]))
    expect(changesOf(after, before).moved).toEqual([])
    expect(changesOf({}, { 'main.tf': 'removed {\n  from = x.a\n}\n' }).moved).toEqual([])
  })
})

describe('the fingerprint', () => {
  const first = changesOf({ 'a.tf': resource('a') }, { 'a.tf': resource('a', '  input = 2') }).fingerprint
  const later = (text: string) => changesOf({ 'a.tf': resource('a') }, { 'a.tf': text }).fingerprint

  it('is the same while the same blocks differ', () => {
    expect(later(resource('a', '  input = 3'))).toBe(first)
  })

  it.each([
    ['another block', resource('a', '  input = 2') + resource('b')],
    ['a move', `${resource('a', '  input = 2')}moved {\n  from = x.z\n  to = x.a\n}\n`],
    ['a local', `${resource('a', '  input = 2')}locals {\n  l = 1\n}\n`],
    ['a module call', `${resource('a', '  input = 2')}${module('m', './m')}`],
  ])('differs after a change of %s', (_, text) => {
    expect(later(text)).not.toBe(first)
  })

  it('differs after a change of what only stands in another folder or file', () => {
    const calls = { 'main.tf': module('m', './m') + module('n', './n'), 'm/main.tf': '', 'n/main.tf': '' }
    const states: Record<string, string>[] = [
      {},
      { 'm/x.tf': resource('a') },
      { 'n/x.tf': resource('a') },
      { 'm/x.sh': 'x' },
      { 'n/x.sh': 'x' },
      { 'prod.tfvars': 'x = 1\n' },
      { 'dev.tfvars': 'x = 1\n' },
    ]
    const found = states.map((after) => changesOf({}, after, calls).fingerprint)
    expect(new Set(found).size).toBe(found.length)
    expect(changesOf({}, { 'dev.tfvars.md': 'x' }, calls).fingerprint).toBe(found[0])
    expect(changesOf({ 'dev.tfvars': 'x = 1\n' }, {}, calls).fingerprint).toBe(found[6])
    const other = { ...calls, 'main.tf': module('m', './m') + module('o', './n') }
    expect(changesOf({}, {}, other).fingerprint).not.toBe(found[0])
  })
})

it('reads expressions over several lines, and no attributes of nested blocks', () => {
  const body = '\n  a = 1 # one\n  b = [\n    2,\n  ]\n  inner {\n    a = 3\n  }\n  e = x["k"].y\n'
  const [block] = readCodeBlocks(`resource "t" "n" {${body}}`)
  expect([...(block?.attributes ?? [])]).toEqual([
    ['a', '1'],
    ['b', '[ 2, ]'],
    ['e', 'x["k"].y'],
  ])
  expect(block).toMatchObject({
    kind: 'resource',
    labels: ['t', 'n'],
    body: 'a = 1 b = [ 2, ] inner { a = 3 } e = x["k"].y',
  })
})

it('reads the same from a file with either kind of line ends', () => {
  const code = 'resource "t" "n" {\n  a = <<EOT\n}\nEOT\n}\nlocals {\n}\n'
  expect(readCodeBlocks(code.replaceAll('\n', '\r\n'))).toEqual(readCodeBlocks(code))
})
