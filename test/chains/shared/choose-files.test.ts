import { describe, expect, it } from 'vitest'
import { chooseAll, chooseFiles } from '../../../src/chains/shared/choose-files.ts'
import type { RepositoryFile } from '../../../src/chains/shared/repository.ts'
import { budget, estimate, file } from './repository-file.ts'

const choose = (files: RepositoryFile[], about: string, tokens = 10_000, changed: string[] = []) => {
  const { chosen, leftOut } = chooseFiles(files, { about, changed: new Set(changed) }, budget(tokens))
  return { chosen: chosen.map(({ path }) => path), leftOut }
}

describe('chooseAll', () => {
  const files = [
    file('modules/a/main.tf', 'variable "x" {}\n'),
    file('staging.tfvars', 'x = 1\n'),
    file('b.tf.json', '{}'),
    file('README.md'),
    file('a.tf', 'locals {}\n'),
  ]

  it('takes all code of a short repository, the root first', () => {
    const choice = chooseAll(files, budget(1_000))
    expect(choice?.chosen.map(({ path }) => path)).toEqual(['a.tf', 'b.tf.json', 'staging.tfvars', 'modules/a/main.tf'])
    expect(choice).toMatchObject({ complete: true, leftOut: [] })
  })

  it('adds the description of the root, and no other text', () => {
    const texts = [...files.slice(0, 3), file('README.md', 'Names begin with x.'), file('docs/readme.md', 'no')]
    expect(chooseAll(texts, budget(1_000))?.chosen.map(({ path }) => path)).toEqual([
      'README.md',
      'b.tf.json',
      'staging.tfvars',
      'modules/a/main.tf',
    ])
  })

  it('is complete where there is no code', () => {
    expect(chooseAll([file('README.md')], budget(10))).toEqual({ chosen: [], leftOut: [], complete: true })
  })

  it('takes none of a long one, nor of one that does not fit or was not read whole', () => {
    const long = (bytes: number) => [file('a.tf', '#'.repeat(bytes / 2)), file('b.tf', '#'.repeat(bytes / 2))]
    expect(chooseAll(long(30_000), budget(20_000))?.chosen).toHaveLength(2)
    expect(chooseAll(long(30_002), budget(20_000))).toBeNull()
    expect(chooseAll(files, budget(20))).toBeNull()
    expect(chooseAll([...files, file('c.tf')], budget(1_000))).toBeNull()
  })
})

/** Makes a root of five files that calls one of 98 modules with three files each. */
function largeRepository(): RepositoryFile[] {
  const filling = `# ${'x'.repeat(600)}\n`
  const modules = Array.from({ length: 98 }, (_, index) => [
    file(`modules/m${index}/main.tf`, `resource "a_thing" "part${index}" {\n  size = var.size\n}\n${filling}`),
    file(`modules/m${index}/variables.tf`, `variable "size" {\n  type = number\n}\n${filling}`),
    file(`modules/m${index}/outputs.tf`, `output "id" {\n  value = a_thing.part${index}.id\n}\n${filling}`),
  ]).flat()
  return [
    ...modules,
    file('variables.tf', `variable "stage" {}\n${filling}`),
    file(
      'queues.tf',
      `resource "a_queue" "payments" {\n  name = local.prefix\n}\nmodule "worker" {\n  source = "./modules/m7"\n}\n`,
    ),
    file('naming.tf', `locals {\n  prefix = var.stage\n}\n${filling}`),
    file('unrelated.tf', `resource "a_wall" "fire" {}\n${filling.repeat(30)}`),
    file('main.tf', `terraform {\n}\n${filling}`),
  ]
}

describe('chooseFiles', () => {
  const files = largeRepository()
  const near = ['main.tf', 'naming.tf', 'queues.tf', 'variables.tf']
  const called = ['modules/m7/main.tf', 'modules/m7/outputs.tf', 'modules/m7/variables.tf']

  it('takes files of the root, and those that references lead to, in a stable order', () => {
    expect(files.length).toBeGreaterThan(295)
    expect(choose(files, 'Add a dead-letter queue for payments')).toEqual({ chosen: [...near, ...called], leftOut: [] })
  })

  it('keeps to the budget, whole files only, and names what it left out', () => {
    const tokens = 900
    const { chosen, leftOut } = choose(files, 'Add a dead-letter queue for payments', tokens)
    const cost = chosen.reduce((sum, path) => sum + estimate(files.find((one) => one.path === path)?.text ?? ''), 0)
    expect(cost).toBeLessThanOrEqual(tokens)
    expect(chosen).toContain('queues.tf')
    expect([...chosen, ...leftOut].sort()).toEqual([...near, ...called].sort())
    expect(leftOut.length).toBeGreaterThan(0)
  })

  it('takes files of the root and changed ones for a request whose words are not in the code', () => {
    expect(choose(files, 'Bitte alles günstiger machen', 10_000, ['modules/m3/main.tf']).chosen).toEqual([
      'main.tf',
      'variables.tf',
      'modules/m3/main.tf',
      'modules/m3/outputs.tf',
      'modules/m3/variables.tf',
    ])
  })

  it('takes what the task names by its path', () => {
    expect(choose(files, 'Error in modules/m9/outputs.tf line 3').chosen).toContain('modules/m9/outputs.tf')
    expect(choose(files, 'Look at unrelated.tf').chosen).toContain('unrelated.tf')
  })

  it('takes no file for a word of its path alone', () => {
    const others = [file('payments/alerts.tf', 'resource "a_wall" "fire" {}\n'), ...files]
    expect(choose(others, 'Change payments').chosen).not.toContain('payments/alerts.tf')
  })

  it('takes all of a small root', () => {
    const small = [...files.filter(({ path }) => path.includes('/')), file('odd.tf', 'locals {}\n')]
    expect(choose(small, 'Nothing of this').chosen).toEqual(['odd.tf'])
  })

  it('looks for arguments and in values, too', () => {
    const arguments_ = [
      ...files,
      file('modules/keep/main.tf', `resource "a_log" "x" {\n  retention_days = 5\n}\n`),
      file('environments/production.tfvars', 'stage = "production"\n'),
    ]
    expect(choose(arguments_, 'A retention of 7 days').chosen).toContain('modules/keep/main.tf')
    expect(choose(arguments_, 'Another stage').chosen).toContain('environments/production.tfvars')
  })
})

describe('a number in a task', () => {
  it('leads to the file whose blocks have it', () => {
    const services = Array.from({ length: 60 }, (_, index) =>
      file(`service-${index}.tf`, `resource "terraform_data" "service_${index}" {}\n${'#'.repeat(600)}\n`),
    )
    expect(choose(services, 'Service 41 gets five replicas.', 1_000).chosen).toContain('service-41.tf')
  })
})
