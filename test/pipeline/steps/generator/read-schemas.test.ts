import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSchemas, type TypesInPlay } from '../../../../pipeline/steps/generator/generator-dialogue.ts'
import type { IacClient } from '../../../../src/services/iac/contract.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { createSteps } from '../support.ts'

const steps = startOnce(createSteps)
let root: string
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'schemas-')))
  await promisify(execFile)('git', ['init', '--quiet', root])
  await writeFile(join(root, 'main.tf'), 'resource "aws_used" "x" {}\nresource "aws_unrelated" "x" {}\n')
})
afterAll(() => rm(root, { recursive: true, force: true }))

const TYPES = ['aws_used', 'aws_unrelated', 'aws_new', 'aws_asked', 'aws_other']
const schema: IacClient['schema'] = async ({ resource_types }) => ({
  providers: {
    'registry.terraform.io/hashicorp/aws': {
      resource_schemas: Object.fromEntries(
        (resource_types ?? []).map((type) => [
          type,
          { block: { attributes: { arn: { type: 'string', computed: true } } } },
        ]),
      ),
      data_source_schemas: {},
      resource_types: resource_types ? [] : TYPES,
      data_source_types: [],
      ephemeral_resource_schemas: {},
      ephemeral_types: [],
    },
  },
  missing: [],
  left_out: [],
})

/** Returns the types whose schemas are reported after one initialisation of the engine. */
async function told(inPlay: Partial<TypesInPlay>, diff = ''): Promise<string[]> {
  const { kit, workspace } = await steps.world({ additions: { schema } })
  Object.assign(workspace, {
    iacRoot: root,
    clone: root,
    gitDirectory: join(root, '.git'),
    branchDiff: async () => diff,
  })
  kit.engine.initialised = true
  const text = await readSchemas(kit, { query: 'Do it', templates: [], ...inPlay })
  return [...(text ?? '').matchAll(/^resource "(\w+)"/gm)].map(([, type = '']) => type)
}

describe('the schemas that the generator is told', () => {
  it('are those of the request, the session and the chosen templates', async () => {
    const templates = ['Use `aws_new`.']
    expect(await told({ query: 'Add an aws_asked', templates }, '+resource "aws_other" "x" {\n')).toEqual([
      'aws_asked',
      'aws_other',
      'aws_new',
    ])
  })

  it('leave out what the code shows in use', async () => {
    expect(await told({})).toEqual([])
    expect(await told({ templates: ['`aws_used` with `aws_new`'] }, '+resource "aws_unrelated" "x" {\n')).toEqual([
      'aws_new',
    ])
  })

  it('hold it when the engine complains about it', async () => {
    expect(await told({ query: 'Error: Unsupported argument\n  on main.tf, in resource "aws_used" "x":' })).toEqual([
      'aws_used',
    ])
  })
})
