import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readHcl, textOf } from '../../../src/hcl/read.ts'
import { openPlain } from '../jobs/plan-copy.ts'
import { type OutputFiles, writeOutput } from '../output/files.ts'
import type { Engine, JobRequest } from '../types.ts'
import { readSchemaAnswer } from './answer.ts'
import type { SchemaCache, StoredSchema } from './cache.ts'
import { indexDocument } from './index-document.ts'

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

const NAME = '.terraform.lock.hcl'
const MAX_BYTES = 4 * 1024 * 1024

interface LockFile {
  /** A hash of exactly these providers and this engine. */
  key: string
  /** The selected versions by source address. */
  versions: Map<string, string>
}

/** Reads the lock file; null for none, as in a workspace with built-in providers only. */
export async function readLockFile(workspace: string, engine: Engine): Promise<LockFile | null> {
  const handle = await openPlain(join(workspace, NAME))
  if (!handle) return null
  try {
    if ((await handle.stat()).size > MAX_BYTES) return null
    const bytes = await handle.readFile()
    const key = createHash('sha256').update(`${engine.name}\0${engine.version}\0`).update(bytes).digest('hex')
    return { key, versions: versionsOf(bytes.toString('utf8')) }
  } finally {
    await handle.close()
  }
}

const versionsOf = (text: string): Map<string, string> =>
  new Map(
    readHcl(text).body.blocks.flatMap(({ labels: [source], body }) => {
      const version = textOf(body, 'version')
      return source === undefined || version === null ? [] : [[source, version]]
    }),
  )
