import { describe, expect, it } from 'vitest'
import { driftOperations } from '../../src/plan/drift.ts'
import { findOwnChanges } from '../../src/plan/own-changes.ts'
import { planOf } from './fixtures.ts'

type Change = Parameters<typeof planOf>[0][number]
interface Code {
  resources?: object[]
  module_calls?: Record<string, object>
}

const header = (path: string) => `diff --git ${path} ${path}\nindex 1..2 100644\n--- ${path}\n+++ ${path}`
const hunk = (context: string, ...lines: string[]) => [`@@ -1,9 +1,9 @@ ${context}`, ...lines].join('\n')
const change = (path: string, ...hunks: string[]) => [header(path), ...hunks].join('\n')
const inCode = (name: string, more: object = {}) => ({ mode: 'managed', type: 'a', name, ...more })
const root = (code: Code, resource_drift: object[] = []) => ({ configuration: { root_module: code }, resource_drift })

/** Lists the addresses of the operations that are own changes. */
function own(changes: Change[], rest: Record<string, unknown>, ...diffs: string[]): string[] {
  const named = changes.map((one) => ({ type: 'a', ...one }))
  const plan = planOf(named, rest)
  for (const resource of plan.resource_changes)
    resource.name = /\.([^.[]+)(\[.*)?$/.exec(resource.address.replace(/\[".*?"\]/g, ''))?.[1] ?? ''
  return findOwnChanges(plan, driftOperations(plan), diffs).map(({ address }) => address)
}

const deleted = (address: string): Change => ({ address, actions: ['delete'], before: { size: 1 } })
const updated = (address: string, before: object, after: object): Change => ({
  address,
  actions: ['update'],
  before,
  after,
})

describe('a deletion is own', () => {
  const block = hunk('', '-resource "a" "gone" {', '-  size = 1', '-}')

  it('when the diff takes the block away', () => {
    expect(own([deleted('a.gone')], {}, change('main.tf', block))).toEqual(['a.gone'])
    expect(own([deleted('a.gone["x"]'), deleted('a.gone[1]')], {}, change('main.tf', block))).toHaveLength(2)
    expect(own([deleted('a.gone')], {}, change('main.tofu', block))).toEqual(['a.gone'])
  })

  it('when a later round takes away what an earlier one added, which only the diff of the run shows', () => {
    expect(own([deleted('a.gone')], {}, '', change('main.tf', block))).toEqual(['a.gone'])
  })

  it.each([
    ['the block never stood in the code', change('main.tf', hunk('', '-resource "a" "other" {', '-}'))],
    ['the block stands in another file now', change('main.tf', block, hunk('', '+resource "a" "gone" {', '+}'))],
    ['the block went from another folder', change('modules/x/main.tf', block)],
    ['nothing was changed', ''],
  ])('but not when %s', (_, diff) => {
    expect(own([deleted('a.gone')], root({}), diff)).toEqual([])
  })

  it('when the diff takes the call of its module away, or the block in the folder of the module', () => {
    const address = 'module.m["x"].module.n.a.gone'
    const call = change('main.tf', hunk('', '-module "m" {', '-  source = "./modules/m"', '-}'))
    expect(own([deleted(address)], root({}), call)).toEqual([address])
    const code = {
      module_calls: {
        m: { source: './modules/m', module: { module_calls: { n: { source: '../n', module: {} } } } },
      },
    }
    expect(own([deleted(address)], root(code), change('modules/n/main.tf', block))).toEqual([address])
    expect(own([deleted(address)], root(code), change('modules/m/main.tf', block))).toEqual([])
    const outside = { module_calls: { m: { source: 'registry/m', module: {} } } }
    expect(own([deleted(address)], root(outside), change('modules/n/main.tf', block))).toEqual([])
  })

  it('of an instance whose key or count the diff takes away, in the block or in what it refers to', () => {
    const each = (...references: string[]) => inCode('all', { for_each_expression: { references } })
    const gone = deleted('a.all["b"]')
    const list = hunk('resource "a" "all" {', '   for_each = toset([', '     "a",', '-    "b",', '   ])')
    expect(own([gone], root({ resources: [each()] }), change('main.tf', list))).toEqual(['a.all["b"]'])
    const names = change('vars.tf', hunk('variable "names" {', '-  default = ["a", "b"]', '+  default = ["a"]'))
    expect(own([gone], root({ resources: [each('var.names')] }), names)).toEqual(['a.all["b"]'])
    expect(own([gone], root({ resources: [each('var.others')] }), names)).toEqual([])
    expect(own([deleted('a.all["a"]')], root({ resources: [each('var.names')] }), names)).toEqual([])
    const map = change('main.tf', hunk('locals {', '-    b = { size = 1 }'))
    expect(own([gone], root({ resources: [each('local.all')] }), map)).toEqual(['a.all["b"]'])
    const counted = inCode('all', { count_expression: { references: ['var.number'] } })
    const number = change('prod.tfvars', hunk('', '-number = 3', '+number = 2'))
    expect(own([deleted('a.all[2]')], root({ resources: [counted] }), number)).toEqual(['a.all[2]'])
    expect(own([deleted('a.all[2]')], root({ resources: [inCode('all')] }), number)).toEqual([])
  })

  it('of an instance of a module whose key the diff takes away', () => {
    const call = {
      source: './m',
      module: { resources: [inCode('x')] },
      for_each_expression: { references: ['local.sets'] },
    }
    const diff = change('main.tf', hunk('locals {', '-    clicks = {}'))
    const addresses = ['module.set["clicks"].a.x', 'module.set["orders"].a.x']
    expect(own(addresses.map(deleted), root({ module_calls: { set: call } }), diff)).toEqual([addresses[0]])
  })
})

describe('an update is own', () => {
  const code = root({ resources: [inCode('b')] })
  const size = updated('a.b', { size: 1 }, { size: 2 })
  const edit = (...lines: string[]) => change('main.tf', hunk('resource "a" "b" {', ...lines))
  const oneLine = (block: string) =>
    change('main.tf', hunk('', ` ${block}`, ' provider "x" {', '-  size = 1', '+  size = 2'))

  it('when the diff changes the attribute from the value of the infrastructure to that of the code', () => {
    expect(own([size], code, edit('-  size = 1', '+  size = 2'))).toEqual(['a.b'])
    expect(own([size], code, edit('-  size = 1 # small', '+  size = var.size'))).toEqual(['a.b'])
  })

  it.each([
    ['the infrastructure had another value', edit('-  size = 5', '+  size = 2')],
    ['the diff changes another attribute', edit('-  color = 1', '+  color = 2')],
    ['the diff changes another block', edit('-  size = 1', '+  size = 2').replace('"b"', '"c"')],
    ['the line is only a comment', edit('-  # size = 1', '+  # size = 2')],
    ['the line has only moved', edit('-  size = 1', '+  size = 1')],
    ['the block is new under its name', change('main.tf', hunk('', '+resource "a" "b" {', '+  size = 2', '+}'))],
    ['nothing was changed', ''],
    [
      'the change stands behind the end of the block',
      edit('   color = 1', ' }', ' provider "x" {', '-  size = 1', '+  size = 2'),
    ],
    ['the block ends on its first line', oneLine('resource "a" "b" {}')],
    ['the block ends on its first line, before blanks', oneLine('resource "a" "b" { color = 1 }  ')],
    ['the text only contains the value', edit('-  size = 10', '+  size = 20')],
    ['the name is a part of another name', edit('-  max_size = 1', '+  max_size = 2')],
    ['the file is not code', edit('-  size = 1', '+  size = 2').replaceAll('main.tf', 'main.tf.txt')],
  ])('but not when %s', (_, diff) => {
    expect(own([size], code, diff)).toEqual([])
  })

  it.each([
    [
      'behind nested blocks',
      [' resource "a" "b" {', '   inner {', '     x = { y = 1 }', '   }', '-  size = 1', '+  size = 2'],
    ],
    [
      'behind the end of another block',
      [' resource "a" "x" {', ' }', ' resource "a" "b" {', '-  size = 1', '+  size = 2'],
    ],
    ['that had no value there', [' resource "a" "b" {', '+  size = 2']],
    ['beside a remark', [' resource "a" "b" {', '-  size = 1 // one', '+  size = 2 # two']],
  ])('when the diff changes the attribute %s', (_, changed) => {
    expect(own([size], code, change('main.tf', hunk('', ...changed)))).toEqual(['a.b'])
  })

  it.each([
    [
      'a quoted key',
      { tags: { 'x.y': 'a' } },
      { tags: { 'x.y': 'b' } },
      ['-    "x.y" = "a"', '+    "x.y" = "b"'],
      true,
    ],
    ['a truth value', { on: true }, { on: false }, ['-  on = true', '+  on = false'], true],
    ['a fraction', { on: -1.5 }, { on: 2.5 }, ['-  on = -1.5', '+  on = 2.5'], true],
    ['a text with a quotation mark', { on: 'a"b' }, { on: 'c' }, ['-  on = "a\\"b"', '+  on = "c"'], true],
    ['a text with an expression', { on: 'a' }, { on: 'b' }, ['-  on = "a"', `+  on = "$\{var.b}"`], true],
    ['a comparison', { on: 1 }, { on: 2 }, ['-  on == 1', '+  on == 2'], false],
    ['a text of the same digits as a longer one', { on: 'a' }, { on: 'b' }, ['-  on = "aa"', '+  on = "b"'], false],
    ['an item that both sides have', { on: ['a'] }, { on: ['b'] }, ['-  on = ["a"]', '+  on = ["b", "a"]'], false],
    ['an item in a comment', { on: ['a'] }, { on: ['b'] }, ['-  # "a"', '+  # "b"'], false],
    ['a number as item', { on: [1] }, { on: [2] }, ['-  on = [1]', '+  on = [2]'], true],
    ['a number as part of an item', { on: [1] }, { on: [2] }, ['-  on = [1.5]', '+  on = [2]'], false],
  ])('or not, by the value of the line: %s', (_, infrastructure, wanted, changed, expected) => {
    expect(own([updated('a.b', infrastructure, wanted)], code, edit(...changed))).toEqual(expected ? ['a.b'] : [])
  })

  it('but not when the refresh found a change by others, or when the code has no such block', () => {
    const diff = edit('-  size = 1', '+  size = 2')
    const drifted = (entry: object) => own([size], root({ resources: [inCode('b')] }, [entry]), diff)
    expect(drifted({ address: 'a.b', change: { actions: ['update'] } })).toEqual([])
    expect(drifted({ address: 'a.moved', previous_address: 'a.b' })).toEqual([])
    expect(drifted({ address: 'a.other' })).toEqual(['a.b'])
    expect(own([size], root({}), diff)).toEqual([])
    expect(own([size], {}, diff)).toEqual([])
  })

  it('but not when another attribute differs too, even on the same line', () => {
    const both = updated('a.b', { input: { size: 1, color: 'blue' } }, { input: { size: 2, color: 'red' } })
    const line = (number: number) => `  input = { size = ${number}, color = "red" }`
    expect(own([both], code, edit(`-${line(1)}`, `+${line(2)}`))).toEqual([])
    const one = updated('a.b', { input: { size: 1, color: 'red' } }, { input: { size: 2, color: 'red' } })
    expect(own([one], code, edit(`-${line(1)}`, `+${line(2)}`))).toEqual(['a.b'])
  })

  it('when an item of a list goes or comes', () => {
    const items = updated('a.b', { tags: ['x', 'y'] }, { tags: ['x', 'z'] })
    expect(own([items], code, edit('   tags = [', '     "x",', '-    "y",', '+    "z",', '   ]'))).toEqual(['a.b'])
    expect(own([items], code, edit('   tags = [', '     "x",', '+    "z",', '   ]'))).toEqual([])
  })

  it('when a variable, a local value or an argument of the module goes from one value to the other', () => {
    const refers = (reference: string) =>
      inCode('b', { expressions: { size: { references: [`${reference}.more`, reference] } } })
    const of = (reference: string, ...diffs: string[]) =>
      own([size], root({ resources: [refers(reference)] }), ...diffs)
    const variable = (from: number, to: number) =>
      change('vars.tf', hunk('variable "n" {', `-  default = ${from}`, `+  default = ${to}`))
    expect(of('var.n', variable(1, 2))).toEqual(['a.b'])
    expect(of('var.n', variable(7, 2))).toEqual([])
    expect(of('var.m', variable(1, 2))).toEqual([])
    expect(of('var.n', change('terraform.tfvars', hunk('', '-n = 1', '+n = 2')))).toEqual(['a.b'])
    expect(of('local.n', change('main.tf', hunk('locals {', '-  n = 1', '+  n = 2')))).toEqual(['a.b'])
    const call = { source: './m', module: { resources: [refers('var.n')] } }
    const given = change('main.tf', hunk('module "m" {', '-  n = 1', '+  n = 2'))
    expect(
      own([updated('module.m.a.b', { size: 1 }, { size: 2 })], root({ module_calls: { m: call } }), given),
    ).toEqual(['module.m.a.b'])
  })
})

it('a creation is own unless others deleted the resource', () => {
  const created: Change[] = ['a.new', 'a.lost'].map((address) => ({ address, actions: ['create'], after: {} }))
  const drift = [{ address: 'a.lost', change: { actions: ['delete'] } }]
  expect(own(created, { resource_drift: drift })).toEqual(['a.new'])
})
