import { type FileHandle, open } from 'node:fs/promises'
import type { JobRequest } from '../types.ts'
import type { StoredSchema } from './cache.ts'
import type { Extent, ProviderIndex } from './index-document.ts'

type SchemaRequest = Pick<JobRequest, 'resource_types' | 'data_source_types' | 'ephemeral_types'>

/** Limit of an answer's schemas, in bytes. A larger answer omits some and names them. */
const MAX_BYTES = 16 * 1024 * 1024

/** Reads the schemas of the requested types, or all names, as JSON. `versions`: the selected ones by source address. */
export async function readSchemaAnswer(
  stored: StoredSchema,
  versions: ReadonlyMap<string, string>,
  request: SchemaRequest,
): Promise<string> {
  const { resource_types = [], data_source_types = [], ephemeral_types = [] } = request
  const wanted = [...resource_types, ...data_source_types, ...ephemeral_types]
  const { format_version, providers } = stored.index
  if (wanted.length === 0)
    return JSON.stringify({
      format_version,
      providers: Object.fromEntries(
        Object.entries(providers).map(([source, index]) => [source, namesOf(index, versions.get(source))]),
      ),
    })
  const document = await open(stored.path)
  try {
    const parts = new Parts(document)
    const members: string[] = []
    for (const [source, index] of Object.entries(providers)) {
      const resources = await parts.read(index.resource_schemas, resource_types)
      const dataSources = await parts.read(index.data_source_schemas, data_source_types)
      const ephemeral = await parts.read(index.ephemeral_resource_schemas ?? {}, ephemeral_types)
      if (resources.length + dataSources.length + ephemeral.length === 0) continue
      const version = versions.get(source)
      const sections = [
        ...(version === undefined ? [] : [`"version":${JSON.stringify(version)}`]),
        `"resource_schemas":{${resources.join(',')}}`,
        `"data_source_schemas":{${dataSources.join(',')}}`,
        ...(ephemeral.length === 0 ? [] : [`"ephemeral_resource_schemas":{${ephemeral.join(',')}}`]),
      ]
      members.push(`${JSON.stringify(source)}:{${sections.join(',')}}`)
    }
    const missing = wanted.filter((type) => !parts.known.has(type))
    const tail = JSON.stringify({ missing: [...new Set(missing)], left_out: [...parts.leftOut] }).slice(1)
    return `{"format_version":${JSON.stringify(format_version)},"providers":{${members.join(',')}},${tail}`
  } finally {
    await document.close()
  }
}

class Parts {
  readonly known = new Set<string>()
  readonly leftOut = new Set<string>()
  readonly #document: FileHandle
  #room = MAX_BYTES

  constructor(document: FileHandle) {
    this.#document = document
  }

  /** Reads members `"type":{schema}`, with the schema as in the document. */
  async read(extents: Record<string, Extent>, types: readonly string[]): Promise<string[]> {
    const members: string[] = []
    for (const type of new Set(types)) {
      if (!Object.hasOwn(extents, type)) continue
      const [offset, length] = extents[type] as Extent
      this.known.add(type)
      if (length > this.#room) {
        this.leftOut.add(type)
        continue
      }
      this.#room -= length
      const { buffer, bytesRead } = await this.#document.read(Buffer.alloc(length), 0, length, offset)
      if (bytesRead !== length) throw new Error('a stored schema is shorter than its index')
      members.push(`${JSON.stringify(type)}:${buffer.toString('utf8')}`)
    }
    return members
  }
}

const namesOf = (index: ProviderIndex, version: string | undefined) => ({
  ...(version === undefined ? {} : { version }),
  resource_types: Object.keys(index.resource_schemas),
  data_source_types: Object.keys(index.data_source_schemas),
  ...(index.ephemeral_resource_schemas && { ephemeral_types: Object.keys(index.ephemeral_resource_schemas) }),
})
