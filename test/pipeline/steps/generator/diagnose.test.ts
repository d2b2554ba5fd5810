import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { areSameFindings, describeErrors, findErrors } from '../../../../pipeline/steps/generator/diagnose.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { parseDiagnostics } from '../../../../src/plan/diagnostics/parse.ts'
import { useFolder } from '../../../helpers/folder.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { git_ } from '../../workspace/support.ts'
import { createSteps, schemaDouble } from '../support.ts'

const steps = startOnce(createSteps)
const folder = useFolder(beforeEach)
beforeEach(async () => {
  await git_(['init', '--quiet', folder.path])
  await mkdir(join(folder.path, 'net'))
  await writeFile(
    join(folder.path, 'net/main.tf'),
    'output "vpc_id" {\n  value = 1\n}\noutput "secret-word-b1" {\n  value = 2\n}\n',
  )
  await writeFile(
    join(folder.path, 'main.tf'),
    'module "net" {\n  source = "./net"\n}\nmodule "far" {\n  source = "../outside"\n}\n' +
      'output "v" {\n  value = module.net.vpcid\n}\noutput "w" {\n  value = module.far.other\n}\n' +
      'resource "aws_s3_bucket" "a" {\n  buket = "x"\n}\n',
  )
})

const error = (summary: string, line: number, head: string, detail: string) =>
  `Error: ${summary}\n\n  on main.tf line ${line}, in ${head}:\n  ${line}: x\n\n${detail}\n`

it('stand below their error, masked, from code and schema', async () => {
  const block = { attributes: { bucket: { optional: true }, arn: { computed: true } } }
  const { asked, schema } = schemaDouble({ aws_s3_bucket: { block } })
  const { kit } = await steps.world({ additions: { schema } })
  kit.engine.initialised = true
  kit.secrets.add(['secret-word-b1'])
  const places = { iacRoot: folder.path, clone: folder.path, gitDirectory: join(folder.path, '.git') }
  kit.run.workspace = { ...kit.run.workspace, ...places }
  const bucket = 'resource "aws_s3_bucket" "a"'
  const missing = (name: string) => `This object does not have an attribute named "${name}".`
  const feedback = [
    error('Unsupported attribute', 8, 'output "v"', missing('vpcid')),
    error('Unsupported argument', 14, bucket, 'An argument named "buket" is not expected here.'),
    error('Unsupported thing', 14, bucket, 'Blocks of type "arm" are not expected here.'),
    error('Another attribute', 11, 'output "w"', missing('other')),
  ].join('\n')
  const text = await describeErrors(kit, await findErrors(kit, 'plan', parseDiagnostics(feedback)))
  expect(text).toContain(
    `>   8:   value = module.net.vpcid\n    9: }\n   10: output "w" {\nHint: outputs of module.net: vpc_id, ${MASK}.`,
  )
  expect(text).toContain('Hint: nearest arguments of aws_s3_bucket: bucket.')
  expect(text.match(/^Hint: /gm)).toHaveLength(3)
  expect(asked).toHaveLength(1)
})

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
