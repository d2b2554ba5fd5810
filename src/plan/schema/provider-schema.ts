import type { SchemaParts } from '../../services/iac/answers.ts'
import type { SchemaRequest } from '../../services/iac/types.ts'
import { keyOf, type TypeName, type TypeSchema } from './read.ts'

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
  /** Another init may bring other providers. */
  forget(): void
}

/** The service takes no more at once. */
const MAX_TYPES = 64

/** Asks the iac service; null as long as nothing is initialised, and where it is not offered. */
type Ask = (request: Omit<SchemaRequest, 'workspace_path'>) => Promise<SchemaParts | null>

export function createProviderSchema(ask: Ask): ProviderSchema {
  const fetched = new Map<string, TypeSchema[]>()
  let known: KnownTypes | null = null
  return {
    names: async () => {
      known ??= namesOf(await ask({}))
      return known
    },
    forget: () => {
      fetched.clear()
      known = null
    },
    of: async (types) => {
      const wanted = types.filter((type) => !fetched.has(keyOf(type)))
      const named = (mode: TypeName['mode']) => wanted.filter((type) => type.mode === mode).map(({ type }) => type)
      const resourceTypes = [...new Set(named('resource'))].slice(0, MAX_TYPES)
      const dataSourceTypes = [...new Set(named('data'))].slice(0, MAX_TYPES)
      if (resourceTypes.length + dataSourceTypes.length > 0) {
        const parts = await ask({ resource_types: resourceTypes, data_source_types: dataSourceTypes })
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

function namesOf(parts: SchemaParts | null): KnownTypes | null {
  if (!parts) return null
  const providers = Object.values(parts.providers)
  return {
    resource: providers.flatMap(({ resource_types }) => resource_types),
    data: providers.flatMap(({ data_source_types }) => data_source_types),
  }
}

function schemasOf({ providers }: SchemaParts): TypeSchema[] {
  return Object.entries(providers).flatMap(([provider, { version = null, resource_schemas, data_source_schemas }]) => {
    const all = (mode: TypeName['mode'], schemas: Record<string, unknown>) =>
      Object.entries(schemas).map(([type, schema]): TypeSchema => ({ mode, type, provider, version, schema }))
    return [...all('resource', resource_schemas), ...all('data', data_source_schemas)]
  })
}
