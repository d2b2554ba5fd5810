import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lintPrompts } from '../../../../dev/prompt-lint/lint.ts'
import { readProviderSchema } from '../../../../dev/prompt-lint/schema.ts'
import { readSeedPrompts } from '../../../../src/runtime/prompts.ts'
import { documentOf, ENGINE, INSTALLED, providersFor } from './documents.ts'
import { runEngine } from './engine.ts'
import { type Example, examplesOf, validateExamples } from './examples.ts'

const prompts = await readSeedPrompts()
const folder = await mkdtemp(join(tmpdir(), 'world-examples-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const schemaOf = async (installed: (typeof INSTALLED)[number]) =>
  readProviderSchema((await documentOf(installed)).content)

describe.each(INSTALLED)('examples of $cloud with $source $version', (installed) => {
  const { cloud, name, isPartial } = installed
  const all = examplesOf(prompts, `${cloud}-`)
  let examples: Example[] = []
  beforeAll(async () => {
    const schema = await schemaOf(installed)
    const own = new RegExp(`\\b(?:resource|data) "(${name}_\\w+)"`, 'g')
    const isKnown = ({ code }: Example) =>
      [...code.matchAll(own)].every(([, type = '']) => schema.resource.has(type) || schema.data.has(type))
    examples = isPartial ? all.filter(isKnown) : all
    const without = all.filter((example) => !examples.includes(example)).map((example) => example.name)
    if (without.length > 0) console.log(`not checked, since the provider is there in part: ${without.join(', ')}`)
  })

  it('are many', () => expect(examples.length).toBeGreaterThan(10))

  it('have the form of the engine', async () => {
    const broken: string[] = []
    for (const { name: example, code } of all) {
      const root = join(folder, 'format', example)
      await writeExample(root, code)
      const { code: exit, stdout } = await runEngine(ENGINE, root, ['fmt', '-check', '-diff'])
      if (exit !== 0) broken.push(`${example}\n${stdout}`)
    }
    expect(broken).toEqual([])
  })

  it('are valid, without a warning', async () => {
    const schema = await schemaOf(installed)
    const verdict = await validateExamples(ENGINE, join(folder, cloud), {
      examples,
      schema,
      providers: providersFor(installed),
    })
    expect(verdict.standIns).toEqual([])
    expect([...verdict.faults]).toEqual([])
  })

  it('have planted faults found by engine and lint alike', async () => {
    const schema = await schemaOf(installed)
    const planted = examples.map(({ name: example, code }) => ({
      name: example,
      code: code.replace(/^resource "[^"]*" "[^"]*" \{\n/m, (head) => `${head}  no_such_argument = true\n`),
    }))
    const verdict = await validateExamples(ENGINE, join(folder, `${cloud}-planted`), {
      examples: planted,
      schema,
      providers: providersFor(installed),
    })
    for (const { name: example, code } of planted) {
      expect(verdict.faults.get(example)?.join(), example).toContain('no_such_argument')
      const body = `\`\`\`hcl\n${code}\`\`\`\n`
      const found = lintPrompts(new Map([[`${cloud}-resources-planted`, { body }]]), { schema })
      expect(found.map(({ message }) => message).join(), example).toContain('no_such_argument does not exist')
    }
  })

  it('have no finding of the lint with the schema', async () => {
    const schema = await schemaOf(installed)
    const checked = new Set(examples.map((example) => example.name.split('.')[0]))
    const found = lintPrompts(prompts, { schema }).filter(({ prompt }) => checked.has(prompt))
    expect(found).toEqual([])
  })
})

async function writeExample(root: string, code: string): Promise<void> {
  await mkdir(root, { recursive: true })
  await writeFile(join(root, 'example.tf'), code)
}
