import { expect, it } from 'vitest'
import { createProviderSchema } from '../../../src/plan/schema/provider-schema.ts'
import type { SchemaParts, SchemaRequest } from '../../../src/services/iac/contract.ts'

type Asked = Omit<SchemaRequest, 'workspace_path'>
const SOURCE = 'registry.opentofu.org/hashicorp/random'
const PASSWORD = { block: { attributes: { length: { type: 'number', required: true } } } }

/** Makes a service whose provider has these ephemeral types, and records its requests. */
function service(ephemeral_types: string[]) {
  const asked: Asked[] = []
  const schema = createProviderSchema(
    async (request): Promise<SchemaParts> => {
      asked.push(request)
      const resource_types = ['random_password']
      const provider = { resource_types, data_source_types: [], ephemeral_types, data_source_schemas: {} }
      const of = (types: string[] = []) => Object.fromEntries(types.map((type) => [type, PASSWORD]))
      return {
        providers: {
          [SOURCE]: {
            ...provider,
            resource_schemas: of(request.resource_types),
            ephemeral_resource_schemas: of(request.ephemeral_types),
          },
        },
        missing: [],
        left_out: [],
      }
    },
    () => true,
  )
  return { schema, asked }
}
const WANTED = [
  { mode: 'resource', type: 'random_password' },
  { mode: 'ephemeral', type: 'random_password' },
] as const

it('a resource and an ephemeral resource of the same name are told apart', async () => {
  const { schema } = service(['random_password'])
  expect(await schema.names()).toEqual({
    resource: ['random_password'],
    data: [],
    ephemeral: ['random_password'],
  })
  expect((await schema.of(WANTED))?.map(({ mode }) => mode)).toEqual(['resource', 'ephemeral'])
})

it('a service that names no ephemeral types is not asked for any, since an older one would refuse', async () => {
  const { schema, asked } = service([])
  expect((await schema.of(WANTED))?.map(({ mode }) => mode)).toEqual(['resource'])
  expect(asked).toEqual([{}, { resource_types: ['random_password'], data_source_types: [] }])
  expect(await schema.of([{ mode: 'ephemeral', type: 'random_password' }])).toEqual([])
})
