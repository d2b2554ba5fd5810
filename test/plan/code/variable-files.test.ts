import { describe, expect, it } from 'vitest'
import {
  isLoadedByItself,
  lastLoadedName,
  readVariableChanges,
  variablesSetIn,
} from '../../../src/plan/code/variable-files.ts'

const diffOf = (path: string, ...lines: string[]) =>
  [`diff --git ${path} ${path}`, `--- ${path}`, `+++ ${path}`, ...lines].join('\n')

describe('readVariableChanges', () => {
  const names = (...diffs: string[]) => [...readVariableChanges(diffs.join('\n')).names].sort()

  it('finds variables whose declaration changes, also when only the header of the hunk names them', () => {
    expect(
      names(
        diffOf(
          'variables.tf',
          '@@ -10,3 +10,3 @@ variable "size" {',
          '   type = number',
          '-  default = 1',
          '+  default = 2',
          ' }',
        ),
        diffOf(
          'more.tf',
          '@@ -1,2 +1,5 @@',
          ' variable "kept" {',
          ' }',
          '+variable "added" {',
          '+  type = string',
          '+}',
        ),
      ),
    ).toEqual(['added', 'size'])
  })

  it('finds values that change, with their files', () => {
    const changes = readVariableChanges(
      diffOf('envs/prod.tfvars', '@@ -1,2 +1,2 @@', ' name = "a"', '-days = 35', '+days = 7') +
        `\n${diffOf('gone.tfvars', '@@ -1 +0,0 @@', '-old = 1').replace('+++ gone.tfvars', '+++ /dev/null')}`,
    )
    expect([...changes.names].sort()).toEqual(['days', 'old'])
    expect([...changes.files]).toEqual(['envs/prod.tfvars', 'gone.tfvars'])
  })

  it('takes no line of a text for the header of a file', () => {
    const lines = ['@@ -1,5 +1,4 @@', ' query = <<-S', '--- old note', ' select 1', ' S', '-size  = 1', '+size  = 4']
    const changes = readVariableChanges(diffOf('prod.tfvars', ...lines))
    expect([[...changes.files], [...changes.names], changes.before.get('prod.tfvars')?.get('size')]).toEqual([
      ['prod.tfvars'],
      ['size'],
      '1',
    ])
  })

  it('takes neither the code beside a declaration nor its use for a change of a variable', () => {
    expect(
      names(
        diffOf(
          'main.tf',
          '@@ -1,6 +1,6 @@',
          ' variable "kept" {',
          ' }',
          ' resource "a" "b" {',
          '-  x = var.kept',
          '+  y = var.kept',
          ' }',
        ),
      ),
    ).toEqual([])
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
