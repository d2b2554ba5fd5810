import { type OutputFiles, writeOutput } from '../output/files.ts'
import type { Engine, JobRequest } from '../types.ts'
import { readSchemaAnswer } from './answer.ts'
import type { SchemaCache, StoredSchema } from './cache.ts'
import { indexDocument } from './index-document.ts'
import { type LockFile, readLockFile } from './lock-file.ts'

const UNREADABLE =
  'Error: Unreadable schema\n\nThe engine answered a document of provider schemas that cannot be read.\n'
/** Types of the provider that is built into the engine and therefore stands in no lock file. */
const BUILT_IN = /^terraform_/
const BUILT_IN_SOURCE = 'terraform.io/builtin/terraform'

/**
 * Runs a schema job and answers its exit code. Where the same providers were asked before, the answer comes from the
 * cache. Else `run` makes the engine write `providers schema -json` into the output files, and the cache takes it over.
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
  const stored = await keepSchema(cache, lock, output.stdout, { path: output.stdout, index })
  return writeOutput(output, 0, await readSchemaAnswer(stored, lock?.versions ?? new Map(), request), '')
}

/** Without a lock file nothing tells which providers a schema is of, so it is not kept. */
const keepSchema = async (
  cache: SchemaCache,
  lock: LockFile | null,
  path: string,
  fresh: StoredSchema,
): Promise<StoredSchema> => (lock ? await cache.store(lock.key, path, fresh.index) : fresh)

/** The built-in provider has no ephemeral types. */
function knowsBuiltIn({ index }: StoredSchema, { resource_types = [], data_source_types = [] }: JobRequest): boolean {
  const asked = [...resource_types, ...data_source_types].some((type) => BUILT_IN.test(type))
  return !asked || Object.hasOwn(index.providers, BUILT_IN_SOURCE)
}
