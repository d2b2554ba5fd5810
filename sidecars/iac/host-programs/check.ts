import { realpath } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { waitUnlessAborted } from '../../../src/base/time.ts'
import { findBoundary, holdsKeysAlone } from '../limits/workspace.ts'
import { JobFault, type JobKind, SHUT_DOWN } from '../types.ts'
import { type ProgramKind, type Refusal, refuseFindings, refuseTooLarge, SMALL, TooLarge } from './findings.ts'
import { type Inspection, inspect } from './inspect.ts'
import type { Inspected } from './inspect-thread.ts'
import { createKnownScans, type KnownScans } from './known-scans.ts'
import { findLinks, findShipped } from './workspace-files.ts'

interface CheckOptions {
  env: Readonly<Record<string, string | undefined>>
  signal: AbortSignal
  timeoutMs: number
  /** Name of the file with which the platform sends the state to its own store. */
  overrideFilename: string
  /** SHA-256 of that file as the worker wrote it; null when it has written none. */
  overrideSha256: string | null
  /** True if an init copies the state of the backend that an earlier one has recorded. */
  migrates: boolean
  /** The operator's own settings for the backend; empty for none. */
  backendConfig: string
  /** Further folders that links to installed providers may lead to, beside those of the engine. */
  providerFolders: readonly string[]
  /** Hosts, addresses and networks (CIDR) that may be contacted although they are not public. */
  allowedHosts: readonly string[]
  /** True if the providers in the data folder come from an `init` of this service. */
  initialised: boolean
  /** True if the engine runs in a sandbox. */
  sandboxed: boolean
  /** Kinds of programs that the operator allows. */
  allowed: readonly ProgramKind[]
  /** The repository of the workspace, as `host/path`; undefined when it is not known. */
  repository: string | undefined
  /** Scans of earlier jobs; gets those of this one. */
  known?: KnownScans
}

/** Kinds that only report the content of the configuration, so that it may be broken. */
const READS_ONLY: readonly JobKind[] = ['init', 'validate', 'diagnostics', 'schema']
const READS_TESTS: readonly JobKind[] = ['init', 'validate', 'diagnostics']
const USES_SAVED_BACKEND: readonly JobKind[] = [
  ...(['plan', 'import', 'show', 'state_resource_ids', 'state_summary', 'state_rm', 'schema'] as const),
]
const HAS_PLAN: readonly JobKind[] = ['apply', 'show']

/**
 * Returns why a job is refused that would run programs or reach beyond the repository, else null. Checks `apply` and
 * `show` on the configuration in the plan file. Errors: `JobFault` 503 when `signal` fires, 504 after `timeoutMs`.
 */
export async function checkHostPrograms(
  kind: JobKind,
  workspace: string,
  planFile: string | undefined,
  options: CheckOptions,
): Promise<Refusal | null> {
  if (kind === 'scope_resource_ids') return null
  const { signal: stopping, timeoutMs, ...passed } = options
  const limit = AbortSignal.timeout(timeoutMs)
  try {
    return await check(kind, workspace, planFile, { ...passed, signal: AbortSignal.any([stopping, limit]) })
  } catch (error) {
    if (error instanceof TooLarge) return refuseTooLarge(error.file, error.limit)
    if (stopping.aborted) throw new JobFault(503, SHUT_DOWN)
    if (limit.aborted) throw new JobFault(504, `The engine did not finish within ${timeoutMs / 1000}s.`)
    throw error
  }
}

async function check(
  kind: JobKind,
  given: string,
  planFile: string | undefined,
  {
    env,
    signal,
    overrideFilename,
    allowedHosts,
    initialised,
    providerFolders: otherFolders,
    known = createKnownScans(),
    ...passed
  }: Omit<CheckOptions, 'timeoutMs'>,
): Promise<Refusal | null> {
  const workspace = await realpath(given).catch(() => null)
  // The engine reports a missing workspace itself.
  if (workspace === null) return null
  const boundary = await findBoundary(workspace)
  const dataFolder = resolve(workspace, env.TF_DATA_DIR || '.terraform')
  const providerFolders = await realFolders([
    ...otherFolders,
    ...(env.HOME ? [join(env.HOME, '.terraform.d'), join(env.HOME, '.local', 'share')] : []),
    '/usr/local/share',
    '/usr/share',
  ])
  const hasPlainKeys = await holdsKeysAlone(workspace)
  const isOwnOverride = false
  const place = { workspace, boundary, folder: workspace, isOwnOverride, hasPlainKeys, overrideFilename, allowedHosts }
  const shipped = await findShipped({ place, dataFolder, initialised })
  const links = await findLinks({ workspace, boundary, dataFolder, providerFolders, signal })
  const linked = links.filter(({ file }) => !shipped.some((other) => other.file === file))
  if (shipped.length + linked.length > 0) return refuseFindings([...shipped, ...linked])
  const inspection: Inspection = {
    ...passed,
    place,
    dataFolder,
    planFile: planFile !== undefined && HAS_PLAN.includes(kind) ? resolve(workspace, planFile) : null,
    toleratesBroken: READS_ONLY.includes(kind),
    tests: READS_TESTS.includes(kind),
    usesSavedBackend: passed.migrates || USES_SAVED_BACKEND.includes(kind),
    applies: kind === 'apply',
  }
  signal.throwIfAborted()
  try {
    return await inspect(inspection, SMALL, known)
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    const { refusal, scans } = await inspectAside(inspection, signal)
    for (const [key, scan] of scans) known.add(key, scan)
    return refusal
  }
}

const realFolders = async (folders: string[]): Promise<string[]> =>
  (await Promise.all(folders.map((folder) => realpath(folder).catch(() => null)))).filter((folder) => folder !== null)

/** Inspects in a separate thread, so that a large configuration blocks nothing and its memory is limited. */
function inspectAside(inspection: Inspection, signal: AbortSignal): Promise<Inspected> {
  const thread = new Worker(new URL('./inspect-thread.ts', import.meta.url), {
    workerData: inspection,
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    execArgv: [],
    env: {},
  })
  const outcome = new Promise<Inspected>((settle, fail) => {
    thread.once('message', settle)
    thread.once('error', (error: NodeJS.ErrnoException) => {
      const { workspace, boundary } = inspection.place
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') fail(error)
      else {
        const refusal = refuseTooLarge(relative(boundary, workspace) || '.', 'what fits into 128 MiB of memory')
        settle({ refusal, scans: [] })
      }
    })
    thread.once('exit', () => fail(new Error('the check of a configuration ended without a result')))
  })
  return waitUnlessAborted(outcome, signal).finally(() => thread.terminate())
}
