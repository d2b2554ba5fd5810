import { describe, expect, it } from 'vitest'
import { readCodeChanges } from '../../../src/plan/code/changes.ts'
import type { FileVersions } from '../../../src/plan/code/compare.ts'
import { versionsOf } from './versions.ts'

type Files = Record<string, string>

/** Reads the changes between two states of files; `others` are unchanged. */
function changesOf(before: Files, after: Files, others: Files = {}, more: FileVersions[] = []) {
  const files = Object.entries({ ...others, ...after }).map(([path, text]) => ({ path, text }))
  return readCodeChanges([...versionsOf(before, after), ...more], files)
}

const resource = (name: string, input = '1') => `resource "x" "${name}" {\n  input = ${input}\n}\n`
const local = (value: string) => `locals {\n  a = ${value}\n}\n`
const module = (name: string, input = '1') => `module "${name}" {\n  source = "./m"\n  v = ${input}\n}\n`
const output = (name: string, value: string) => `output "${name}" {\n  value = ${value}\n}\n`
const moved = 'moved {\n  from = x.a\n  to = x.b\n}\n'
const removed = 'removed {\n  from = x.a\n}\n'
const unread = (path: string): FileVersions => ({
  from: path,
  to: path,
  before: null,
  after: null,
  unread: 'too large',
})

/** A state of `a.tf` before and after, and what does not change; `m` is a module with an output of a local. */
type Case = [what: string, before: string, after: string, others?: Files]

const MODULE = {
  'm/main.tf': `variable "v" {}\nlocals {\n  l = var.v\n}\n${resource('inner', 'local.l')}`,
  'm/out.tf': output('o', 'local.l'),
}
const DATA = (value: string) => `data "d" "a" {\n  q = ${value}\n}\n`

describe('changes tell all that they affect', () => {
  it.each<Case>([
    ['nothing', '# one\n', '# two\n'],
    ['an added object', resource('a'), resource('a') + resource('b')],
    ['a changed object that others depend on', resource('a'), resource('a', '2'), { 'b.tf': resource('b', 'x.a.id') }],
    ['a removed object', resource('a') + resource('b'), resource('a')],
    ['an object at another address', resource('a'), resource('b') + moved],
    ['an object that is forgotten', resource('a'), removed],
    ['an import', '', `${resource('a')}import {\n  to = x.a\n  id = "1"\n}\n`],
    ['a check', '', 'check "c" {\n  assert {\n    condition = x.a.id\n  }\n}\n', { 'b.tf': resource('a') }],
    ['a changed call', module('m'), module('m', '2'), MODULE],
    ['a local that nothing uses', local('1'), local('2'), { 'b.tf': resource('b', 'local.other') }],
    [
      'a local of changed objects alone',
      local('1') + resource('a', 'local.a'),
      local('2') + resource('a', '[local.a]'),
    ],
    [
      'a local that a changed object uses through others',
      local('1') + resource('a', '1'),
      local('2') + resource('a', 'data.d.a.id'),
      { 'b.tf': `locals {\n  b = local.a\n}\n${DATA('local.b')}` },
    ],
    ['a variable of changed objects alone', resource('a'), `variable "v" {}\n${resource('a', 'var.v')}`],
    ['data of changed objects alone', resource('a'), DATA('1') + resource('a', 'data.d.a.id')],
    ['an output of changed objects', '', resource('a') + output('o', 'x.a.id')],
    ['an output that is gone', resource('a') + output('o', 'x.a.id'), resource('a')],
  ])('%s', (_, before, after, others) => {
    expect(changesOf({ 'a.tf': before }, { 'a.tf': after }, others).isComplete).toBe(true)
  })

  it.each<[what: string, before: Files, after: Files, others?: Files]>([
    [
      'the inside of a module',
      { 'm/main.tf': MODULE['m/main.tf'] },
      { 'm/main.tf': `${MODULE['m/main.tf']}${resource('new')}` },
      { 'a.tf': module('m') },
    ],
    ['a folder that is gone with its call', { ...MODULE, 'a.tf': module('m') }, { 'a.tf': resource('a') }],
    [
      'values of another environment',
      { 'dev.tfvars': 'v = 1' },
      { 'dev.tfvars': 'v = 2' },
      { 'a.tf': resource('a', 'var.v') },
    ],
    [
      'a value that nothing uses',
      { 'terraform.tfvars': 'v = 1' },
      { 'terraform.tfvars': 'v = 2' },
      { 'a.tf': resource('a') },
    ],
    ['a file of a module', { 'm/t.tpl': 'a' }, { 'm/t.tpl': 'b' }, { ...MODULE, 'a.tf': module('m') }],
    [
      'documentation and the lock file',
      { 'README.md': 'a', '.terraform.lock.hcl': 'a' },
      { 'README.md': 'b', '.terraform.lock.hcl': 'b' },
    ],
    [
      'code as JSON',
      { 'a.tf.json': '{"resource": {"x": {"a": {"input": 1}}}}' },
      { 'a.tf.json': '{"resource": {"x": {"a": {"input": 2}}}}' },
    ],
  ])('%s, in files of any kind', (_, before, after, others) => {
    expect(changesOf(before, after, others).isComplete).toBe(true)
  })
})

describe('changes tell which unchanged blocks use a changed value', () => {
  const USED = { 'b.tf': resource('b', 'local.a') }
  it.each<[what: string, before: Files, after: Files, others: Files, users: string[]]>([
    ['a local of an object', { 'a.tf': local('1') }, { 'a.tf': local('2') }, USED, ['x.b']],
    [
      'a local of a call',
      { 'a.tf': local('1') },
      { 'a.tf': local('2') },
      { ...MODULE, 'b.tf': module('m', 'local.a') },
      ['module.m'],
    ],
    [
      'a local with one of two users changed',
      { 'a.tf': local('1') + resource('a', 'local.a') },
      { 'a.tf': local('2') + resource('a', '2') },
      USED,
      ['x.b'],
    ],
    [
      'a local that is used through another one, and in a nested block',
      { 'a.tf': local('1') },
      { 'a.tf': local('2') },
      { 'b.tf': `locals {\n  b = merge(local.a, {})\n}\nresource "x" "b" {\n  n {\n    v = [local.b]\n  }\n}\n` },
      ['x.b'],
    ],
    [
      'a local inside of a module, by the calls of the module',
      { 'm/l.tf': local('1') },
      { 'm/l.tf': local('2') },
      { 'm/r.tf': resource('inner', 'local.a'), 'b.tf': module('m') },
      [],
    ],
    [
      'a variable',
      { 'a.tf': 'variable "v" {\n  default = 1\n}\n' },
      { 'a.tf': 'variable "v" {\n  default = 2\n}\n' },
      { 'b.tf': resource('b', 'var.v') },
      ['x.b'],
    ],
    [
      'a value of the root',
      { 'terraform.tfvars': 'v = 1' },
      { 'terraform.tfvars': 'v = 2' },
      { 'a.tf': resource('a', 'var.v') },
      ['x.a'],
    ],
  ])('%s', (_, before, after, others, users) => {
    expect(changesOf(before, after, others)).toMatchObject({ users, isComplete: true })
  })
})

describe('changes do not tell all that they affect', () => {
  it.each<Case>([
    ['a local of which an object uses a part', local('1'), local('2'), { 'b.tf': resource('b', 'local.a.k') }],
    ['a local of which an object uses an element', local('1'), local('2'), { 'b.tf': resource('b', 'f(local.a [0])') }],
    [
      'a local of which a part is used through another one',
      local('1'),
      local('2'),
      { 'b.tf': `locals {\n  b = local.a["k"]\n  c = local.b\n}\n${resource('b', 'local.c')}` },
    ],
    [
      'a local that makes the instances of an object',
      local('1'),
      local('2'),
      { 'b.tf': 'resource "x" "b" {\n  for_each = local.a\n}\n' },
    ],
    [
      'a local that counts the instances of an object',
      local('1'),
      local('2'),
      { 'b.tf': 'resource "x" "b" {\n  count = length(local.a)\n  v = local.a\n}\n' },
    ],
    ['a local that a provider uses', local('1'), local('2'), { 'b.tf': 'provider "x" {\n  y = local.a\n}\n' }],
    ['a local that an output uses', local('1'), local('2'), { 'b.tf': output('o', 'local.a') }],
    [
      'a local that an object uses through data',
      local('1'),
      local('2'),
      { 'b.tf': DATA('local.a') + resource('b', 'data.d.a.id') },
    ],
    ['data', DATA('1'), DATA('2'), { 'b.tf': resource('b', 'data.d.a.id') }],
    ['a provider', 'provider "x" {}\n', 'provider "x" {\n  a = 1\n}\n'],
    ['settings of the engine', '', 'terraform {\n  required_version = ">= 1"\n}\n'],
    ['an unknown kind', '', 'action "a" "b" {}\n'],
    ['an output of another object', '', output('o', 'x.b.id'), { 'b.tf': resource('b') }],
    ['a move that is taken back', resource('b') + moved, resource('b')],
    [
      'a move to an address that is none',
      resource('b'),
      `${resource('b')}moved {\n  from = x.a\n  to = "\${var.x}"\n}\n`,
    ],
    ['a `removed` block that is gone', removed, ''],
    ['a file that had syntax errors', 'resource "x" "a" {\n  input = [\n}\n', resource('a')],
  ])('%s', (_, before, after, others) => {
    expect(changesOf({ 'a.tf': before }, { 'a.tf': after }, others).isComplete).toBe(false)
  })

  it.each<[what: string, before: Files, after: Files, others?: Files]>([
    [
      'an output of a module that others use',
      { 'm/out.tf': output('o', '1') },
      { 'm/out.tf': output('o', '2') },
      { 'a.tf': module('m') + resource('b', 'module.m.o') },
    ],
    [
      'a local behind an output that others use',
      { 'm/main.tf': MODULE['m/main.tf'] },
      { 'm/main.tf': MODULE['m/main.tf'].replace('l = var.v', 'l = 7') },
      { 'm/out.tf': MODULE['m/out.tf'], 'a.tf': module('m') + resource('b', 'module.m') },
    ],
    ['a template of the root', { 't.tpl': 'a' }, { 't.tpl': 'b' }, { 'a.tf': resource('a', 'file("t.tpl")') }],
    ['code that no call is known to load', { 'other/a.tf': resource('a') }, { 'other/a.tf': resource('a', '2') }],
    ['a file that one engine takes in place of another', {}, { 'a.tofu': resource('a') }, { 'a.tf': resource('b') }],
  ])('%s, in files of any kind', (_, before, after, others) => {
    expect(changesOf(before, after, others).isComplete).toBe(false)
  })

  it.each(['a.tf', 'terraform.tfvars', 'logo.png'])('a file that was not read: %s', (path) => {
    const { isComplete, isNew } = changesOf({}, { 'b.tf': resource('b') }, {}, [unread(path)])
    expect({ isComplete, isNew }).toEqual({ isComplete: false, isNew: false })
  })
})

describe('a root is the own work of the session', () => {
  const NEW = resource('a') + module('m') + output('o', 'x.a.id') + local('1')
  it.each<[what: string, before: Files, others: Files, expected: boolean]>([
    ['in an empty repository', {}, {}, true],
    [
      'beside values, settings and providers of others',
      {},
      { 'b.tf': 'variable "v" {}\nlocals {\n  z = 1\n}\nterraform {}\nprovider "x" {}\n' },
      true,
    ],
    ['with a folder that had code', {}, MODULE, true],
    ['not beside an object', {}, { 'b.tf': resource('b') }, false],
    ['not beside a call', {}, { 'b.tf': module('n') }, false],
    ['not beside an output', {}, { 'b.tf': output('p', '1') }, false],
    ['not beside a `removed` block', {}, { 'b.tf': removed }, false],
    ['not when it changed an object', { 'a.tf': resource('a', '2') }, {}, false],
    ['not when it removed an object', { 'a.tf': resource('z') }, {}, false],
  ])('%s', (_, before, others, expected) => {
    expect(changesOf(before, { 'a.tf': NEW }, others).isNew).toBe(expected)
  })

  it('not without objects', () => {
    expect(changesOf({}, { 'a.tf': local('1') }).isNew).toBe(false)
  })
})
