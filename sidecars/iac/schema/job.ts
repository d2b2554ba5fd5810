import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { readHcl, textOf } from '../../../src/hcl/read.ts'
import { readPlain } from '../limits/workspace.ts'
import { type OutputFiles, writeOutput } from '../output/files.ts'
import type { Engine, JobRequest } from '../types.ts'
import { type Extent, indexDocument, type ProviderIndex, type SchemaCache, type StoredSchema } from './cache.ts'

const UNREADABLE =
  'Error: Unreadable schema\n\nThe engine answered a document of provider schemas that cannot be read.\n'
/** Types of the provider that is built into the engine and therefore missing in lock files. */
const BUILT_IN = /^terraform_/
const BUILT_IN_SOURCE = 'terraform.io/builtin/terraform'

/**
 * Runs a schema job and returns its exit code. Answers from the cache if possible; else `run` has the engine write
 * `providers schema -json` into the output files, which the cache keeps.
 */
export async function runSchemaJob(
  { schemas: cache, engine }: { schemas: SchemaCache; engine: Engine },
  request: JobRequest,
  output: OutputFiles,
  run: () => Promise<number>,
): Promise<number> {
  const lock = await readLockFile(request.workspace_path, engine)
  const cached = lock && (await cache.find(lock.key))
  if (cached && knowsBuiltIn(cached, request)) {
    const answer = await readSchemaAnswer(cached, lock.versions, request).catch(() => null)
    if (answer !== null) return writeOutput(output, 0, answer, '')
  }
  const exitCode = await run()
  if (exitCode !== 0) return exitCode
  const index = await indexDocument(output.stdout)
  if (!index) return writeOutput(output, 1, '', UNREADABLE)
  // Without a lock file, which alone identifies the providers, the document is not kept.
  const stored = lock ? await cache.store(lock.key, output.stdout, index) : { path: output.stdout, index }
  return writeOutput(output, 0, await readSchemaAnswer(stored, lock?.versions ?? new Map(), request), '')
}

/** Reports whether the document holds these types. The built-in provider has no ephemeral types. */
function knowsBuiltIn({ index }: StoredSchema, { resource_types = [], data_source_types = [] }: JobRequest): boolean {
  const asked = [...resource_types, ...data_source_types].some((type) => BUILT_IN.test(type))
  return !asked || Object.hasOwn(index.providers, BUILT_IN_SOURCE)
}

/**
 * Reads the lock file; null for none, as in a workspace with built-in providers only. `key`: a hash of exactly these
 * providers and this engine; `versions`: the selected ones by source address.
 */
export async function readLockFile(workspace: string, engine: Engine) {
  const bytes = await readPlain(join(workspace, '.terraform.lock.hcl'), 4 * 1024 * 1024)
  if (bytes === null) return null
  const key = createHash('sha256').update(`${engine.name}\0${engine.version}\0`).update(bytes).digest('hex')
  return { key, versions: versionsOf(bytes.toString('utf8')) }
}

const versionsOf = (text: string): Map<string, string> =>
  new Map(
    readHcl(text).body.blocks.flatMap(({ labels: [source], body }) => {
      const version = textOf(body, 'version')
      return source === undefined || version === null ? [] : [[source, version]]
    }),
  )

/** Limit of an answer's schemas, in bytes. A larger answer omits some and names them. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

/** Reads the schemas of the requested types, or all names, as JSON. `versions`: the selected ones by source address. */
async function readSchemaAnswer(
  stored: StoredSchema,
  versions: ReadonlyMap<string, string>,
  request: JobRequest,
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
    const parts = createParts(document)
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

/** Creates what reads schemas from a document, as long as there is room in the answer. */
function createParts(document: FileHandle) {
  const known = new Set<string>()
  const leftOut = new Set<string>()
  let room = MAX_ANSWER_BYTES
  return {
    known,
    leftOut,
    /** Reads members `"type":{schema}`, with the schema as in the document. */
    async read(extents: Record<string, Extent>, types: readonly string[]): Promise<string[]> {
      const members: string[] = []
      for (const type of new Set(types)) {
        if (!Object.hasOwn(extents, type)) continue
        const [offset, length] = extents[type] as Extent
        known.add(type)
        if (length > room) {
          leftOut.add(type)
          continue
        }
        room -= length
        const { buffer, bytesRead } = await document.read(Buffer.alloc(length), 0, length, offset)
        if (bytesRead !== length) throw new Error('a stored schema is shorter than its index')
        members.push(`${JSON.stringify(type)}:${buffer.toString('utf8')}`)
      }
      return members
    },
  }
}

const namesOf = (index: ProviderIndex, version: string | undefined) => ({
  ...(version === undefined ? {} : { version }),
  resource_types: Object.keys(index.resource_schemas),
  data_source_types: Object.keys(index.data_source_schemas),
  ...(index.ephemeral_resource_schemas && { ephemeral_types: Object.keys(index.ephemeral_resource_schemas) }),
})
