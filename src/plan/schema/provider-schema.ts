import type { SchemaParts } from '../../services/iac/answers.ts'
import type { SchemaRequest } from '../../services/iac/contract.ts'
import { keyOf, type TypeName, type TypeSchema } from './read-schema.ts'

/** Names of all types that the providers of a workspace offer. */
export interface TypeNames {
  resource: string[]
  data: string[]
  ephemeral: string[]
}

/**
 * The schemas of the providers in an initialised workspace, remembered once they were read. An iac service need not
 * offer schemas: every answer is null then, and never an error. It is not asked again before the next init.
 */
export interface ProviderSchema {
  /** True if an init has installed the providers, so that there is something to ask. */
  installed(): boolean
  names(): Promise<TypeNames | null>
  /** Schemas of those types that exist, in the given order; a type that two providers have comes twice. */
  of(types: readonly TypeName[]): Promise<TypeSchema[] | null>
  /** Drops what was remembered, since another init may bring other providers. */
  forget(): void
}

/** The iac service accepts at most so many types in one request. */
const MAX_TYPES = 64

/** Asks the iac service. The answer is null when the service offers no schemas, or cannot read them. */
type Ask = (request: Omit<SchemaRequest, 'workspace_path'>) => Promise<SchemaParts | null>

export function createProviderSchema(ask: Ask, installed: () => boolean): ProviderSchema {
  const fetched = new Map<string, TypeSchema[]>()
  let typeNames: TypeNames | null = null
  let failed = false
  const askUnlessFailed: Ask = async (request) => {
    if (failed || !installed()) return null
    const parts = await ask(request)
    failed = parts === null
    return parts
  }
  const names = async () => {
    if (failed) return null
    typeNames ??= namesOf(await askUnlessFailed({}))
    return typeNames
  }
  /** Without the ephemeral types that no provider has: a service that knows none of them refuses to be asked. */
  const askable = async (types: readonly TypeName[]) => {
    if (!types.some(({ mode }) => mode === 'ephemeral')) return types
    const known = (await names())?.ephemeral ?? []
    return types.filter(({ mode, type }) => mode !== 'ephemeral' || known.includes(type))
  }
  return {
    installed,
    names,
    forget: () => {
      fetched.clear()
      typeNames = null
      failed = false
    },
    of: async (types) => {
      const missing = await askable(types.filter((type) => !fetched.has(keyOf(type))))
      const ephemeral = namesOfMode(missing, 'ephemeral')
      const request = {
        resource_types: namesOfMode(missing, 'resource'),
        data_source_types: namesOfMode(missing, 'data'),
        ...(ephemeral.length > 0 && { ephemeral_types: ephemeral }),
      }
      if (missing.length > 0) {
        const parts = await askUnlessFailed(request)
        if (!parts) return null
        for (const schema of schemasOf(parts)) {
          const key = keyOf(schema)
          const ofOtherProviders = (fetched.get(key) ?? []).filter(({ provider }) => provider !== schema.provider)
          fetched.set(key, [...ofOtherProviders, schema])
        }
      }
      return types.flatMap((type) => fetched.get(keyOf(type)) ?? [])
    },
  }
}

const namesOfMode = (types: readonly TypeName[], wanted: TypeName['mode']): string[] =>
  [...new Set(types.filter(({ mode }) => mode === wanted).map(({ type }) => type))].slice(0, MAX_TYPES)

function namesOf(parts: SchemaParts | null): TypeNames | null {
  if (!parts) return null
  const providers = Object.values(parts.providers)
  return {
    resource: providers.flatMap(({ resource_types }) => resource_types),
    data: providers.flatMap(({ data_source_types }) => data_source_types),
    ephemeral: providers.flatMap(({ ephemeral_types }) => ephemeral_types),
  }
}

function schemasOf({ providers }: SchemaParts): TypeSchema[] {
  return Object.entries(providers).flatMap(([provider, { version = null, ...schemas }]) => {
    const all = (mode: TypeName['mode'], ofMode: Record<string, unknown>) =>
      Object.entries(ofMode).map(([type, schema]): TypeSchema => ({ mode, type, provider, version, schema }))
    return [
      ...all('resource', schemas.resource_schemas),
      ...all('data', schemas.data_source_schemas),
      ...all('ephemeral', schemas.ephemeral_resource_schemas),
    ]
  })
}
