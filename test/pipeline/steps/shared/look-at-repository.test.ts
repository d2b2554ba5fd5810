import { expect, it } from 'vitest'
import { readDeclarations, readForStatements } from '../../../../pipeline/steps/shared/look-at-repository.ts'
import { declaredBlocksIn } from '../../../../src/chains/shared/declared-blocks.ts'
import type { RepositoryFile } from '../../../../src/chains/shared/repository.ts'
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
  const looking = { ...kit, survey: { ...kit.survey, files: async () => files } }
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
