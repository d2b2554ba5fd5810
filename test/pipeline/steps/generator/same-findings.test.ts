import { expect, it } from 'vitest'
import { areSameFindings } from '../../../../pipeline/steps/generator/diagnose.ts'

const one = '1. Unsupported argument\nmain.tf:7, in resource "a" "b"\n>   7:   nope = 1'
const two = '2. Reference to undeclared resource\non net/a.tf line 9:'

it('compares findings whatever their order, their numbers and the lines of the code', () => {
  expect(areSameFindings(`${one}\n\n${two}`, `${two.replace('2.', '1.')}\n\n${one.replace('1.', '2.')}`)).toBe(true)
  expect(areSameFindings(one, one.replaceAll('7:', '12:').replace('tf:7', 'tf:12'))).toBe(true)
  expect(areSameFindings(two, two.replace('line 9', 'line 10'))).toBe(true)
})

it('tells others apart', () => {
  expect(areSameFindings(one, two)).toBe(false)
  expect(areSameFindings(one, one.replace('nope', 'other'))).toBe(false)
  expect(areSameFindings(one, one.replace('= 1', '= 2'))).toBe(false)
  expect(areSameFindings(one, `${one}\n\n${two}`)).toBe(false)
})
