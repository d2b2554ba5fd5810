import { execFile } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHAINS } from '../../src/chains/index.ts'
import { useFolder } from '../helpers/folder.ts'
import { createSteps } from '../pipeline/steps/support.ts'
import { renderDefinition, renderRequest, renderSections, type Section } from './form.ts'
import { PROMPTS, SHARED } from './prompts.ts'
import { requestCases, runCase } from './requests.ts'

/**
 * The files of `golden/` hold the requests to models, byte for byte: `<chain>.txt` every prompt in every variant,
 * `<chain>.requests.txt` the calls of the steps. After an intended change of a prompt, `npx vitest run test/chains -u`
 * writes them anew, and their diff shows what a model will read.
 */

const file = (name: string) => join(import.meta.dirname, 'golden', `${name}.txt`)

/** Lists the definitions of the result tools of a chain. Its variants may have several. */
function resultToolsOf(name: string): Section[] {
  const definitions = CHAINS.flatMap((chain) =>
    chain.name === name && 'resultTool' in chain ? [chain.resultTool().definition] : [],
  )
  return [...new Set(definitions.map(renderDefinition))].map((text) => ['result tool', text])
}

const NAMES = [...new Set(CHAINS.map(({ name }) => name))]

let steps: Awaited<ReturnType<typeof createSteps>>
const root = useFolder()
beforeAll(async () => {
  steps = await createSteps()
  await promisify(execFile)('git', ['init', '--quiet', root.path])
  await mkdir(join(root.path, 'modules'))
  await writeFile(join(root.path, 'main.tf'), 'resource "aws_s3_bucket" "logs" {\n  nope = 1\n}\n')
  await writeFile(
    join(root.path, 'modules/net.tf'),
    'resource "aws_vpc" "main" {\n}\n\nlocals {\n  cidr = "10.0.0.0/16"\n}\n',
  )
})
afterAll(() => steps.close())

describe('the prompts of', () => {
  it.each(Object.entries({ ...PROMPTS, ...SHARED }))('%s are as they were', async (name, sections) => {
    await expect(renderSections([...sections, ...resultToolsOf(name)])).toMatchFileSnapshot(file(name))
  })
})

describe('the requests of', () => {
  it.each(NAMES)('%s are as they were', async (name) => {
    const sections: Section[] = []
    for (const one of requestCases(root.path)[name]) {
      const [heading] = one
      const requests = await runCase(steps, one)
      expect(requests.length, heading).toBeGreaterThan(0)
      for (const [index, request] of requests.entries())
        sections.push([`${heading}, call ${index + 1}`, renderRequest(request)])
    }
    await expect(renderSections(sections)).toMatchFileSnapshot(file(`${name}.requests`))
  })
})

it('has no golden file that nothing is compared with', async () => {
  const known = [...NAMES.flatMap((name) => [name, `${name}.requests`]), ...Object.keys(SHARED)]
  expect((await readdir(join(import.meta.dirname, 'golden'))).sort()).toEqual(known.map((name) => `${name}.txt`).sort())
})
