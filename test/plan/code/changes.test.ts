import { describe, expect, it } from 'vitest'
import { readCodeChanges } from '../../../src/plan/code/changes.ts'
import { findChangedBlocks } from '../../../src/plan/code/compare.ts'
import { versionsOf } from './versions.ts'

type Files = Record<string, string>

/** Returns the changes between two states of files; `others` are unchanged. */
function changesOf(before: Files, after: Files, others: Files = {}) {
  const files = Object.entries({ ...others, ...after }).map(([path, text]) => ({ path, text }))
  const changes = readCodeChanges(versionsOf(before, after), files)
  return { ...changes, addresses: changes.blocks.map(({ address }) => address) }
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
    ['a line of dashes in a heredoc', '  input = <<S\n-- a\nb\nS', '  input = <<S\n-- c\nb\nS'],
    ['a line of plus signs in a heredoc', '  input = <<S\n++ a\nb\nS', '  input = <<S\nb\nS'],
    ['the line ends of a heredoc', '  input = <<S\na\nS', '  input = <<S\r\na\r\nS'],
    ['a template in a text', `  input = "\${var.a}\${var.b}"`, `  input = "\${var.a} \${var.b}"`],
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
    [
      'layout around operators and brackets',
      { 'a.tf': resource('a', `  input = [for k, v in { a = 1 } : "\${k}-\${v+1}"]`) },
      { 'a.tf': resource('a', `  input=[ for k , v in {a=1}: "\${ k }-\${v + 1}" ]`) },
    ],
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

  it('are named for every block of a file that had syntax errors, or has some', () => {
    const broken = { 'a.tf': `${resource('a')}resource "x" "b" {\n  input = [\n}\n` }
    const sound = { 'a.tf': resource('a') + resource('b') }
    expect(changesOf(broken, sound).addresses).toEqual(['x.a', 'x.b'])
    expect(changesOf(sound, broken).addresses).toEqual(['x.a', 'x.b'])
  })

  it('cannot be told from code that was not read, which is named instead', () => {
    const unread = (path: string) => ({ from: path, to: path, before: null, after: null, unread: 'too large' })
    const versions = [unread('a.tf'), unread('m/b.tf.json'), unread('logo.png'), unread('dev.tfvars')]
    expect(readCodeChanges(versions, [])).toMatchObject({ blocks: [], unread: ['a.tf', 'm/b.tf.json'] })
  })

  it('are compared by what the last version of the text has, also where a file of code is long', () => {
    const long = Array.from({ length: 9_000 }, (_, index) => resource(`r${index}`, `  input = "${'x'.repeat(480)}"`))
    const before = { 'a.tf': long.join('') }
    expect(before['a.tf'].length).toBeGreaterThan(4 * 1024 * 1024)
    const after = { 'a.tf': long.with(-1, resource('last')).join('') }
    expect(changesOf(before, after).addresses).toEqual(['x.r8999', 'x.last'])
  })

  it.each(['main.tofu', 'main.tf.json', 'main.tofu.json'])('are read of %s', (path) => {
    const code = (input: number) =>
      path.endsWith('.json')
        ? JSON.stringify({ resource: { x: { a: { input }, b: [{ input: 1 }] } } })
        : resource('a', `  input = ${input}`) + resource('b')
    expect(changesOf({ [path]: code(1) }, { [path]: code(2) }).addresses).toEqual(['x.a'])
    expect(changesOf({ [path]: code(1) }, { [path]: code(1).replaceAll(/([{}])/g, '$1 ') }).addresses).toEqual([])
  })

  it('are read of every form that the JSON syntax has', () => {
    const code = {
      '//': 'a comment',
      module: { m: { source: './m' } },
      moved: [{ from: 'x.a', to: 'module.m.x.a["k.v"]' }],
      removed: { from: 'x.gone' },
      import: [{ to: 'x.b[each.key]', id: '1' }],
      locals: { l: 'BIG' },
      terraform: { required_version: '>= 1' },
    }
    const files = {
      'main.tf.json': JSON.stringify(code).replace('"BIG"', '9007199254740993'),
      'm/v.tf.json': '{"variable": {"v": {}}}',
    }
    const { addresses, moved, mentioned } = changesOf({}, files)
    expect(addresses).toEqual(['module.m', 'x.gone', 'x.b'])
    expect(moved).toEqual(['x.a', 'module.m.x.a["k.v"]'])
    expect(mentioned).toEqual([...moved, 'x.gone', 'x.b'])
    const other = files['main.tf.json'].replace('740993', '740992').replace('a comment', 'another')
    const changed = findChangedBlocks(versionsOf(files, { ...files, 'main.tf.json': other }))
    expect(changed.map(({ name, before }) => [name, before?.meaning()])).toEqual([['local l', '9007199254740993']])
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
    expect(moved).toEqual(['module.m.x.b', 'module.m.x.c["d.e"]', 'x.a', 'module.m["k"].x.b'])
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

it('tells where a changed block stands and what it was', () => {
  const before = { 'a.tf': `# one\n${resource('a')}` }
  const [changed, added] = findChangedBlocks(
    versionsOf(before, { 'a.tf': `${before['a.tf'].replace('= 1', '= 2')}\nlocals {\n  b = 1\n}\n` }),
  )
  expect(changed).toMatchObject({ path: 'a.tf', line: 2, isPresent: true, before: { line: 2 } })
  expect(added).toMatchObject({ kind: 'local', labels: ['b'], line: 7, before: null })
})
