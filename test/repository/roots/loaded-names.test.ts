import { expect, it } from 'vitest'
import { engineKindOf, loadedNames } from '../../../src/repository/roots/loaded-names.ts'

const NAMES = [
  'a.tf',
  'a.tofu',
  'b.tf.json',
  'b.tofu.json',
  'c_override.tf',
  'd.tofu',
  '.e.tf',
  '#f.tf#',
  'g.tf~',
  'h.tfvars',
]

it.each([
  ['Terraform', ['a.tf', 'b.tf.json', 'c_override.tf']],
  ['OpenTofu', ['a.tofu', 'b.tofu.json', 'c_override.tf', 'd.tofu']],
  [undefined, ['a.tf', 'a.tofu', 'b.tf.json', 'b.tofu.json', 'c_override.tf', 'd.tofu']],
])('%s loads its own files of a folder', (name, loaded) => {
  expect(loadedNames(NAMES, engineKindOf(name))).toEqual(loaded)
})
