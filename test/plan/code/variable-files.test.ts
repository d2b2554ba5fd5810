import { describe, expect, it } from 'vitest'
import {
  isLoadedByItself,
  lastLoadedName,
  readVariableChanges,
  variablesSetIn,
} from '../../../src/plan/code/variable-files.ts'
import { versionsOf } from './versions.ts'

describe('readVariableChanges', () => {
  const changesOf = (before: Record<string, string>, after: Record<string, string>) =>
    readVariableChanges(versionsOf(before, after))
  const variable = (name: string, value: number) => `variable "${name}" {\n  default = ${value}\n}\n`

  it('finds variables whose declaration changes, and no others', () => {
    const before = { 'a.tf': `${variable('size', 1)}${variable('kept', 1)}resource "a" "b" {\n  x = var.kept\n}\n` }
    const after = { 'a.tf': before['a.tf'].replace('= 1', '= 2').replace('x =', 'y ='), 'b.tf': variable('added', 1) }
    expect([...changesOf(before, after).names].sort()).toEqual(['added', 'size'])
  })

  it('finds them in the JSON syntax, and not for layout and comments', () => {
    const json = (value: number, blank?: number) => JSON.stringify({ variable: { v: { default: value } } }, null, blank)
    expect([...changesOf({ 'v.tf.json': json(1) }, { 'v.tf.json': json(2) }).names]).toEqual(['v'])
    expect([...changesOf({ 'v.tf.json': json(1) }, { 'v.tf.json': json(1, 2) }).names]).toEqual([])
    expect([...changesOf({ 'a.tf': variable('v', 1) }, { 'a.tf': `# why\n${variable('v', 1)}` }).names]).toEqual([])
  })

  it('finds values that change, with their files and what they were', () => {
    const before = { 'envs/prod.tfvars': 'name = "a"\ndays = 35\nlist = [\n  1,\n]\n', 'gone.tfvars': 'old = 1\n' }
    const after = { 'envs/prod.tfvars': 'name = "a" # why\ndays = 7\nlist = [\n  2,\n]\n' }
    const changes = changesOf(before, after)
    expect([...changes.names].sort()).toEqual(['days', 'list', 'old'])
    expect([...changes.files]).toEqual(['envs/prod.tfvars', 'gone.tfvars'])
    expect([...(changes.before.get('envs/prod.tfvars') ?? [])]).toEqual([
      ['days', '35'],
      ['list', '[\n  1,\n]'],
    ])
  })

  it.each([
    ['a line of dashes', '-- old note\n', ''],
    ['a line of plus signs', '', '++ note\n'],
    ['blanks', 'a  b\n', 'a   b\n'],
    ['a carriage return', 'a\n', 'a\r\n'],
  ])('finds a text in which %s changes, and what changes beside it', (_, was, is) => {
    const values = (line: string, size: number) => `query = <<-S\n${line}select 1\nS\nsize = ${size}\n`
    const changes = changesOf({ 'prod.tfvars': values(was, 1) }, { 'prod.tfvars': values(is, 4) })
    expect([...changes.names]).toEqual(['query', 'size'])
    expect(changes.before.get('prod.tfvars')?.get('size')).toBe('1')
  })

  it('takes everything in a file for changed that has syntax errors or was not read', () => {
    const broken = changesOf({ 'a.tfvars': 'x = 1\ny = {\n' }, { 'a.tfvars': 'x = 1\ny = {}\n' })
    expect([...broken.names].sort()).toEqual(['x', 'y'])
    const unread = { from: 'a.tfvars', to: 'a.tfvars', before: null, after: null, unread: 'too large' }
    expect([...readVariableChanges([unread]).files]).toEqual(['a.tfvars'])
  })
})

it('knows the variables that a file sets', () => {
  expect(variablesSetIn('days = 7\n# name = "x"\n  tags={}\ndays = 8\n', new Set(['days', 'name', 'tags']))).toEqual([
    'days',
    'tags',
  ])
  expect(variablesSetIn('text = <<E\ndays = 7\nE\n', new Set(['days']))).toEqual([])
  expect(variablesSetIn('{\n  "days": 7\n}', new Set(['days']))).toEqual(['days'])
})

it.each([
  ['terraform.tfvars', true],
  ['terraform.tfvars.json', true],
  ['a.auto.tfvars', true],
  ['prod.tfvars', false],
  ['environments/prod/terraform.tfvars', false],
  ['auto.tfvars', false],
])('the engine reads %s by itself: %s', (path, expected) => {
  expect(isLoadedByItself(path)).toBe(expected)
})

describe('lastLoadedName', () => {
  it('sorts after every other file of the folder', () => {
    const present = ['main.tf', 'zzz.auto.tfvars', '~~environment.auto.tfvars']
    const name = lastLoadedName('prod.tfvars', present)
    expect([...present, name].sort().at(-1)).toBe(name)
    expect(isLoadedByItself(name)).toBe(true)
  })

  it('keeps the form of the file', () => {
    expect(lastLoadedName('prod.tfvars.json', [])).toBe('~environment.auto.tfvars.json')
  })
})
