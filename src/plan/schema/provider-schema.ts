import type { EngineRoot, SchemaParts, SchemaRequest } from '../../services/iac/contract.ts'
import { keyOf, type TypeName, type TypeSchema } from './read-schema.ts'

/** Names of all types that a workspace's providers offer. */
export type TypeNames = Record<TypeName['mode'], string[]>

/** Cached schemas of an initialised workspace's providers; null until the next init if the service offers none. */
export type ProviderSchema = ReturnType<typeof createProviderSchema>

/** Most types that the iac service accepts in one request. */
const MAX_TYPES = 64

/** Calls the iac service; null when it offers no schemas or cannot read them. */
type Ask = (request: Omit<SchemaRequest, keyof EngineRoot>) => Promise<SchemaParts | null>

/** @param installed true if an init has installed the providers */
export function createProviderSchema(ask: Ask, installed: () => boolean) {
  const fetched = new Map<string, TypeSchema[]>()
  /** Shared by those who ask at once. */
  let typeNames: Promise<TypeNames | null> | null = null
  let failed = false
  const askUnlessFailed: Ask = async (request) => {
    if (failed || !installed()) return null
    const parts = await ask(request)
    failed = parts === null
    return parts
  }
  const names = async (): Promise<TypeNames | null> => {
    if (failed || !installed()) return null
    typeNames ??= askUnlessFailed({}).then(namesOf)
    const asked = typeNames
    return await asked.catch((error: unknown) => {
      if (typeNames === asked) typeNames = null
      throw error
    })
  }
  /** Removes unknown ephemeral types: a service without ephemeral types refuses the request. */
  const askable = async (types: readonly TypeName[]) => {
    if (!types.some(({ mode }) => mode === 'ephemeral')) return types
    const known = (await names())?.ephemeral ?? []
    return types.filter(({ mode, type }) => mode !== 'ephemeral' || known.includes(type))
  }
  return {
    installed,
    names,
    /** Clears the cache, since another init may bring other providers. */
    forget: (): void => {
      fetched.clear()
      typeNames = null
      failed = false
    },
    /** Returns the schemas of existing types in the given order; a type of two providers appears twice. */
    of: async (types: readonly TypeName[]): Promise<TypeSchema[] | null> => {
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
