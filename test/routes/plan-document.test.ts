import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ENDPOINTS } from '../../routes/endpoints.ts'
import { describeApi } from '../../routes/openapi/document.ts'
import { planDocumentJsonSchema } from '../../routes/schemas/plan-document.ts'

const read = async (path: string) => JSON.parse(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8'))

it('the published schema of a plan document, the component of the API and the code are the same', async () => {
  const published = await read('contracts/plan-document.v1.schema.json')
  const { $schema, title, ...schema } = published
  expect([$schema, title]).toEqual(['https://json-schema.org/draft/2020-12/schema', 'PlanDocument'])
  // After a change of the code, write the expected result into the file; a field with a new meaning needs a new file.
  expect(schema).toEqual(planDocumentJsonSchema())
  expect(JSON.parse(describeApi(ENDPOINTS, '1')).components.schemas.PlanDocument).toEqual(schema)
  expect(schema.properties.schema_version).toMatchObject({ const: 1 })
})
