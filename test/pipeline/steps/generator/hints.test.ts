import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeErrors, findErrors } from '../../../../pipeline/steps/generator/diagnose.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { git_ } from '../../workspace/support.ts'
import { createSteps } from '../support.ts'

const steps = startOnce(createSteps)
let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hints-'))
  await git_(['init', '--quiet', root])
  await mkdir(join(root, 'net'))
  await writeFile(
    join(root, 'net/main.tf'),
    'output "vpc_id" {\n  value = 1\n}\noutput "secret-word-b1" {\n  value = 2\n}\n',
  )
  await writeFile(
    join(root, 'main.tf'),
    'module "net" {\n  source = "./net"\n}\nmodule "far" {\n  source = "../outside"\n}\n' +
      'output "v" {\n  value = module.net.vpcid\n}\noutput "w" {\n  value = module.far.other\n}\n' +
      'resource "aws_s3_bucket" "a" {\n  buket = "x"\n}\n',
  )
})
afterEach(() => rm(root, { recursive: true, force: true }))

const error = (summary: string, line: number, head: string, detail: string) =>
  `Error: ${summary}\n\n  on main.tf line ${line}, in ${head}:\n  ${line}: x\n\n${detail}\n`

it('stand below their error, masked, from code and schema', async () => {
  let asked = 0
  const block = { attributes: { bucket: { optional: true }, arn: { computed: true } } }
  const { kit } = await steps.world({
    additions: {
      schema: async () => {
        asked++
        return {
          providers: {
            aws: {
              resource_schemas: { aws_s3_bucket: { block } },
              data_source_schemas: {},
              resource_types: [],
              data_source_types: [],
              ephemeral_resource_schemas: {},
              ephemeral_types: [],
            },
          },
          missing: [],
          left_out: [],
        }
      },
    },
  })
  kit.engine.initialised = true
  kit.secrets.add(['secret-word-b1'])
  kit.run.workspace = { ...kit.run.workspace, iacRoot: root, clone: root, gitDirectory: join(root, '.git') }
  const missing = (name: string) => `This object does not have an attribute named "${name}".`
  const feedback = [
    error('Unsupported attribute', 8, 'output "v"', missing('vpcid')),
    error(
      'Unsupported argument',
      14,
      'resource "aws_s3_bucket" "a"',
      'An argument named "buket" is not expected here.',
    ),
    error('Unsupported thing', 14, 'resource "aws_s3_bucket" "a"', 'Blocks of type "arm" are not expected here.'),
    error('Another attribute', 11, 'output "w"', missing('other')),
  ].join('\n')
  const text = await describeErrors(kit, await findErrors(kit, { step: 'plan', feedback }, { asksEngine: true }))
  expect(text).toContain(
    `>   8:   value = module.net.vpcid\n    9: }\n   10: output "w" {\nHint: outputs of module.net: vpc_id, ${MASK}.`,
  )
  expect(text).toContain('Hint: nearest arguments of aws_s3_bucket: bucket.')
  expect(text.match(/^Hint: /gm)).toHaveLength(3)
  expect(asked).toBe(1)
})
