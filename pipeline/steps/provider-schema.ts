import { keyOf, type TypeName, type TypeSchema } from '../../src/schema/types.ts'
import type { SchemaParts } from '../../src/sidecar-clients/iac/addition-answers.ts'
import type { Run } from '../run.ts'

/** Names of the types that the providers of a workspace have. */
export interface KnownTypes {
  resource: string[]
  data: string[]
}

/**
 * What the providers of an initialised workspace know. The iac service need not offer it: everything is null
 * then. Never an error.
 */
export interface ProviderSchema {
  names(): Promise<KnownTypes | null>
  /** Those of the types that exist, in their order; a type of two providers comes twice. */
  of(types: readonly TypeName[]): Promise<TypeSchema[] | null>
}

/** The service takes no more at once. */
const MAX_TYPES = 64

export function createProviderSchema(run: Run, isInitialised: () => boolean): ProviderSchema {
  const fetched = new Map<string, TypeSchema[]>()
  const ask = (request: { resource_types?: string[]; data_source_types?: string[] }) =>
    isInitialised() ? run.context.iac.schema({ workspace_path: run.workspace.iac_root, ...request }, run.signal) : Promise.resolve(null)
  return {
    names: async () => {
      const parts = await ask({})
      if (!parts) return null
      const providers = Object.values(parts.providers)
      return {
        resource: providers.flatMap(({ resource_types }) => resource_types),
        data: providers.flatMap(({ data_source_types }) => data_source_types),
      }
    },
    of: async (types) => {
      const wanted = types.filter((type) => !fetched.has(keyOf(type)))
      const named = (mode: TypeName['mode']) => wanted.filter((type) => type.mode === mode).map(({ type }) => type)
      const resource_types = [...new Set(named('resource'))].slice(0, MAX_TYPES)
      const data_source_types = [...new Set(named('data'))].slice(0, MAX_TYPES)
      if (resource_types.length + data_source_types.length > 0) {
        const parts = await ask({ resource_types, data_source_types })
        if (!parts) return null
        for (const schema of schemasOf(parts)) {
          const key = keyOf(schema)
          const known = (fetched.get(key) ?? []).filter(({ provider }) => provider !== schema.provider)
          fetched.set(key, [...known, schema])
        }
      }
      return types.flatMap((type) => fetched.get(keyOf(type)) ?? [])
    },
  }
}

function schemasOf({ providers }: SchemaParts): TypeSchema[] {
  return Object.entries(providers).flatMap(([provider, { version = null, resource_schemas, data_source_schemas }]) => {
    const all = (mode: TypeName['mode'], schemas: Record<string, unknown>) =>
      Object.entries(schemas).map(([type, schema]): TypeSchema => ({ mode, type, provider, version, schema }))
    return [...all('resource', resource_schemas), ...all('data', data_source_schemas)]
  })
}
