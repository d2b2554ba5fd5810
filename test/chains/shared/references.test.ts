import { describe, expect, it } from 'vitest'
import { reachFiles } from '../../../src/chains/shared/choose-files.ts'

const code = (files: Record<string, string>) => Object.entries(files).map(([path, text]) => ({ path, text }))
const reach = (files: Record<string, string>, ...starts: string[]) =>
  Object.fromEntries(reachFiles(code(files), starts))

const ROOT = {
  'main.tf': 'resource "a_b" "c" {\n  name = join("-", [var.name, local.suffix])\n  key  = data.a_key.d.id\n}\n',
  'variables.tf': 'variable "name" {}\n',
  'locals.tf': 'locals {\n  suffix = module.net.id\n}\n',
  'data.tf': 'data "a_key" "d" {}\n',
  'network.tf': 'module "net" {\n  source = "./modules/net"\n}\n',
  'modules/net/main.tf': 'output "id" {\n  value = a_net.x.id\n}\n',
  'modules/net/values.tfvars': 'x = 1\n',
  'modules/net/net.tf': 'resource "a_net" "x" {}\n',
  'modules/other/variables.tf': 'variable "name" {}\n',
  'users.tf': 'output "c" {\n  value = a_b.c.id\n}\n',
  'environments/dev.tfvars': 'name = "dev"\n',
}

describe('reachFiles', () => {
  it('follows two steps to what is used, and one to users', () => {
    expect(reach(ROOT, 'main.tf')).toEqual({
      'main.tf': 0,
      'variables.tf': 1,
      'locals.tf': 1,
      'data.tf': 1,
      'users.tf': 1,
      'network.tf': 2,
    })
  })

  it('goes into the folder of a module, and from there to its callers', () => {
    expect(reach(ROOT, 'network.tf')).toEqual({
      'network.tf': 0,
      'locals.tf': 1,
      'modules/net/main.tf': 1,
      'modules/net/net.tf': 1,
    })
    expect(reach(ROOT, 'modules/net/net.tf')).toMatchObject({ 'network.tf': 1, 'modules/net/main.tf': 1 })
  })

  it('knows names in their folder only, and variables of the root in files of values', () => {
    expect(reach(ROOT, 'variables.tf')).toEqual({
      'variables.tf': 0,
      'main.tf': 1,
      'environments/dev.tfvars': 1,
      'locals.tf': 2,
      'data.tf': 2,
    })
    expect(reach(ROOT, 'environments/dev.tfvars')).toMatchObject({ 'variables.tf': 1 })
  })

  it('begins nowhere where there is no such file, and keeps to the root', () => {
    expect(reach(ROOT, 'gone.tf')).toEqual({})
    expect(reach({ 'a/main.tf': 'module "m" {\n  source = "../../../x"\n}\n', 'x/b.tf': '' }, 'a/main.tf')).toEqual({
      'a/main.tf': 0,
    })
  })

  it('does not go to the users of what everything uses', () => {
    const users = Object.fromEntries(
      Array.from({ length: 9 }, (_, index) => [`u${index}.tf`, 'output "x" {\n  value = local.tags\n}\n']),
    )
    const locals = { 'locals.tf': 'locals {\n  tags = {}\n}\n' }
    expect(Object.keys(reach({ ...locals, ...users }, 'locals.tf'))).toEqual(['locals.tf'])
    const { 'u0.tf': _, ...fewer } = users
    expect(Object.keys(reach({ ...locals, ...fewer }, 'locals.tf'))).toHaveLength(9)
  })

  it('reads references of the JSON syntax, and none in comments', () => {
    const files = {
      'main.tf.json': `{"output": {"x": {"value": "\${a_b.c.id}", "depends_on": ["local.d"]}}}`,
      'b.tf': 'resource "a_b" "c" {}\n',
      'd.tf': 'locals {\n  d = 1 # var.e\n}\n',
      'e.tf': 'variable "e" {}\n',
    }
    expect(reach(files, 'main.tf.json')).toEqual({ 'main.tf.json': 0, 'b.tf': 1, 'd.tf': 1 })
  })

  it('reads each file once, also where all refer to each other', () => {
    let reads = 0
    const files = Array.from({ length: 300 }, (_, index) => {
      const other = (distance: number) => `a_b.r${(index + distance) % 300}.id`
      const text = `resource "a_b" "r${index}" {\n  x = ${other(1)}\n  y = ${other(7)}\n}\n`
      return {
        path: `f${index}.tf`,
        get text() {
          reads++
          return text
        },
      }
    })
    expect(
      reachFiles(
        files,
        files.map(({ path }) => path),
      ).size,
    ).toBe(300)
    expect(reads).toBeLessThanOrEqual(300)
  })
})
