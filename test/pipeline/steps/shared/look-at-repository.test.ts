import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import {
  learnDeclaredSecrets,
  readDeclarations,
  readForStatements,
} from '../../../../pipeline/steps/shared/look-at-repository.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { declaredBlocksIn } from '../../../../src/chains/shared/declared-blocks.ts'
import type { RepositoryFile } from '../../../../src/chains/shared/repository.ts'
import { survey } from '../../../chains/shared/repository-file.ts'
import { useFolder } from '../../../helpers/folder.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { createSteps } from '../support.ts'

const steps = startOnce(createSteps)

const file = (path: string, text: string): RepositoryFile => ({
  path,
  bytes: text.length,
  text,
  blocks: declaredBlocksIn(path, text),
})
const service = (number: number) =>
  file(
    `service-${number}.tf`,
    `resource "terraform_data" "service_${number}" {\n  input = { replicas = ${number} }\n}\n# ${'x'.repeat(200)}\n`,
  )

async function shown(files: RepositoryFile[], query: string): Promise<string> {
  const { kit } = await steps.world({ query })
  const looking = { ...kit, survey: { look: async () => survey(files), files: async () => files } }
  return await readForStatements(looking, readDeclarations(looking))
}

it('shows the code of a short repository, with values that the model could not know', async () => {
  const text = await shown([service(1), service(2)], 'Service 2 gets five replicas.')
  expect(text).toContain('replicas = 1')
  expect(text).toContain('replicas = 2')
})

it('shows of a long repository the files of the request before the list', async () => {
  const services = Array.from({ length: 300 }, (_, index) => service(index + 100))
  const text = await shown(services, 'Service 317 gets five replicas.')
  expect(text).toContain('replicas = 317')
  expect(text.indexOf('replicas = 317')).toBeLessThan(text.indexOf('service-100.tf ('))
  expect(text.length).toBeLessThan(25_000)
})

it('shows the list alone where the request leads nowhere', async () => {
  const services = Array.from({ length: 300 }, (_, index) => service(index + 100))
  expect(await shown(services, '全部')).not.toContain('replicas =')
})

const folder = useFolder(beforeEach)

async function maskerFor(files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text)
  const { kit } = await steps.world()
  kit.run.workspace = { ...kit.run.workspace, iacRoot: folder.path, clone: folder.path }
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
  kit.run.workspace = { ...kit.run.workspace, iacRoot: join(folder.path, 'gone') }
  await learnDeclaredSecrets(kit)
  expect(kit.secrets.text('as it is')).toBe('as it is')
})
