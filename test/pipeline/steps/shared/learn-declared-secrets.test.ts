import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { learnDeclaredSecrets } from '../../../../pipeline/steps/shared/look-at-repository.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { createSteps } from '../support.ts'

const steps = startOnce(createSteps)
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'declared-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function maskerFor(files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const { kit } = await steps.world()
  kit.run.workspace = { ...kit.run.workspace, iacRoot: folder }
  await learnDeclaredSecrets(kit)
  return kit.secrets
}

it('hides what code and variable files declare sensitive, in both spellings', async () => {
  const secrets = await maskerFor({
    'main.tf': 'variable "a" {\n  sensitive = true\n}\nlocals {\n  b = sensitive("literal-b1")\n}\n',
    'more.tf.json': '{"variable": {"c": {"sensitive": true, "default": "literal-c1"}, "d": {"sensitive": true}}}',
    'prod.auto.tfvars': 'a = "literal-a1"\nregion = "eu-central-1"\n',
    'terraform.tfvars.json': '{"d": "literal-d1"}',
  })
  expect(secrets.text('literal-a1 literal-b1 literal-c1 literal-d1 eu-central-1')).toBe(
    `${MASK} ${MASK} ${MASK} ${MASK} eu-central-1`,
  )
})

it('hides what files of OpenTofu declare sensitive', async () => {
  const secrets = await maskerFor({
    'main.tofu': 'variable "a" {\n  sensitive = true\n  default   = "literal-a2"\n}\n',
    'more.tofu.json': '{"variable": {"c": {"sensitive": true, "default": "literal-c2"}}}',
  })
  expect(secrets.text('literal-a2 literal-c2')).toBe(`${MASK} ${MASK}`)
})

it('hides what is declared ephemeral, which no plan and no state holds', async () => {
  const secrets = await maskerFor({
    'main.tf':
      'variable "a" {\n  ephemeral = true\n  default   = "literal-a3"\n}\nvariable "b" {\n  ephemeral = true\n}\n',
    'more.tf.json': '{"variable": {"c": {"ephemeral": true, "default": "literal-c3"}}}',
    'terraform.tfvars': 'b = "literal-b3"\n',
  })
  expect(secrets.text('literal-a3 literal-b3 literal-c3')).toBe(`${MASK} ${MASK} ${MASK}`)
})

it('goes on when nothing can be searched', async () => {
  const { kit } = await steps.world()
  kit.run.workspace = { ...kit.run.workspace, iacRoot: join(folder, 'gone') }
  await learnDeclaredSecrets(kit)
  expect(kit.secrets.text('as it is')).toBe('as it is')
})
