import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { stringify } from 'yaml'
import { readText, writeAtomically } from '../dev/files.ts'
import type { GitHost } from '../dev/git-host/start.ts'
import { connectStackEngine, type EngineRootRequest, shortenOutput } from '../dev/sample-state/engine-root.ts'
import { type Document, readDocument, SHIPPED_CONFIGURATION, section } from '../dev/stack/choices.ts'
import { startStack } from '../dev/stack/start-stack.ts'
import type { Cloud } from '../src/base/vocabulary.ts'
import { connect } from '../src/data/db/pool.ts'

export type EvalStack = Awaited<ReturnType<typeof startEvalStack>>
interface EvalStackOptions {
  folder: string
  env: Record<string, string | undefined>
  /** True uses the scripted model, whatever is set. */
  scripted: boolean
  /** Samples that run at the same time. */
  concurrency: number
  /** Folder for recorded model traffic of every round; null if it is not recorded. */
  record_folder: string | null
  /** Time limit in seconds of a model call; by default as configured. */
  modelTimeoutS?: number
  /** Address of an emulator that answers engines in place of AWS. */
  emulator_url?: string | undefined
  signal?: AbortSignal
}

/** Starts an embedded stack that uses nothing of the operator's except the model. Errors: those of the stack's start. */
export async function startEvalStack(options: EvalStackOptions) {
  const { folder, scripted, emulator_url, signal } = options
  const env = {
    ...accountWithoutRegion(options.env),
    ...options.env,
    PLATFORM_CONFIG: await writeConfiguration(options),
    // Any free port, since several evaluations may start at the same time.
    PLATFORM_PORT: '0',
  }
  const stack = await startStack({
    folder: join(folder, 'stack'),
    env,
    embedded: scripted || 'but the model',
    emulator_url,
    signal,
  })
  try {
    const { git_host, databaseUrl } = stack.addresses
    if (!git_host || !databaseUrl) throw new Error('the stack has no git host or database of its own')
    const { url, model, engine, failed } = stack
    const facts = openRoundFacts(databaseUrl)
    return {
      url,
      git_host,
      roots: await createEngineRoots(join(folder, 'stack'), git_host, engine.name),
      model,
      engine,
      failed,
      /** Adds up unpublished facts on the rounds of a session. */
      roundFacts: facts.read,
      stop: async () => {
        await facts.close()
        await stack.stop()
      },
    }
  } catch (error) {
    await stack.stop()
    throw error
  }
}

/** Makes the variables that let a stack ask a server of chat completions, which needs no key. */
export const modelVariables = (url: string, { main, small }: { main: string; small: string }) => ({
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_API_KEY: 'not-needed',
  PLATFORM_LLM_MODEL: `openai/${main}`,
  PLATFORM_LLM_SMALL_MODEL: `openai/${small}`,
})

/** Makes the variables of an OCI account without a region, for the scenario about it, unless the operator has one. */
const accountWithoutRegion = (env: EvalStackOptions['env']): Record<string, string> =>
  Object.keys(env).some((name) => name.startsWith('OCI_') || name === 'TF_VAR_region')
    ? {}
    : { OCI_AUTH: 'ResourcePrincipal', OCI_RESOURCE_PRINCIPAL_VERSION: '2.2' }

/** Writes the operator's configuration with the additions of an evaluation. */
async function writeConfiguration(options: EvalStackOptions): Promise<string> {
  const { folder, env, concurrency, record_folder, modelTimeoutS } = options
  const document = await readConfiguration(env.PLATFORM_CONFIG)
  const path = join(folder, 'evaluation.yaml')
  const written = {
    ...document,
    llm: {
      ...section(document, 'llm'),
      ...(record_folder !== null && { record_folder }),
      ...(modelTimeoutS !== undefined && { timeout: modelTimeoutS }),
    },
    worker: { ...section(document, 'worker'), concurrency },
    // The spans of an evaluation must not be sent to the operator's collector.
    telemetry: without(section(document, 'telemetry'), ['collector_url']),
  }
  await writeAtomically(path, stringify(written))
  return path
}

interface RoundRow {
  usage: { chains?: Record<string, { calls: number }> } | null
  result: { notes?: string[] } | null
}

/** Reads the database of the embedded stack. The connection is opened at the first read. */
function openRoundFacts(databaseUrl: string) {
  const sql = connect(databaseUrl, { max: 1 })
  return {
    read: async (sessionUuid: string) => {
      const rows = await sql<RoundRow[]>`
        SELECT rounds.usage, rounds.result FROM rounds JOIN sessions ON sessions.id = rounds.session_id
        WHERE sessions.uuid = ${sessionUuid} ORDER BY rounds.id`
      const chains = rows.flatMap(({ usage }) => Object.entries(usage?.chains ?? {}))
      return {
        /** Status texts are not counted. */
        model_calls: chains.reduce((sum, [name, { calls }]) => sum + (name === 'STATUS_UPDATE' ? 0 : calls), 0),
        notes: rows.flatMap(({ result }) => result?.notes ?? []),
      }
    },
    close: () => sql.end(),
  }
}

/** Fields of the shipped configuration that `npm start` would take for services of the operator in a file of its own. */
const SHIPPED_SERVICES = {
  llm: ['model', 'small_model'],
  storage: ['provider', 'endpoint_url', 'public_endpoint_url'],
  telemetry: ['collector_url'],
}

/**
 * Reads the operator's configuration, or the shipped one, whose models, store and collector are only defaults and are
 * left out. Errors: the operator's file cannot be read or is no YAML mapping.
 * @param own value of PLATFORM_CONFIG
 */
export async function readConfiguration(own: string | undefined): Promise<Document> {
  const path = own?.trim()
  const document = await readDocument(path || SHIPPED_CONFIGURATION)
  if (path) return document
  const chosen = Object.entries(SHIPPED_SERVICES).map(([name, fields]) => [
    name,
    without(section(document, name), fields),
  ])
  return { ...document, ...Object.fromEntries(chosen) }
}

const without = (fields: Document, names: readonly string[]): Document =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

export type EngineRoots = Awaited<ReturnType<typeof createEngineRoots>>
/** A clone of a branch for checking the results of a session. */
export type BranchRoot = Awaited<ReturnType<EngineRoots['open']>>

/**
 * Makes roots that use the engine of the stack's iac sidecar.
 * @param folder data folder of the stack
 * @param engineName its name, as the stack says it
 */
async function createEngineRoots(folder: string, host: Pick<GitHost, 'pathOf'>, engineName: string) {
  const engine = await connectStackEngine(folder)
  const { config } = engine
  return {
    config,
    open: async (request: Omit<EngineRootRequest, 'source'>) => {
      const root = await engine.open({ ...request, source: host.pathOf(request.uri) })
      return {
        ...root,
        file: async (path: string): Promise<string | null> => {
          const full = resolve(root.path, path)
          return full.startsWith(`${root.clone}${sep}`) ? await readText(full) : null
        },
        /** Lists the files in the whole repository that the engine's `fmt` would change. */
        unformatted: (signal: AbortSignal): Promise<string[]> =>
          findUnformatted(engineName, root.clone, config.paths.backend_override_filename, signal),
      }
    },
    /** Runs `init` in a root with only these files. Returns its fault; null if it works. */
    initFault: async (files: Record<string, string>, cloud: Cloud, signal: AbortSignal): Promise<string | null> => {
      const workspacePath = await engine.makeFolder()
      try {
        for (const [name, text] of Object.entries(files)) await writeFile(join(workspacePath, name), text)
        const job = { workspace_path: workspacePath, scope_id: 'probe', engine_provider: cloud }
        const { exit_code, stderr } = await engine.iac.run('init', job, { signal })
        return exit_code === 0 ? null : shortenOutput(stderr)
      } catch (error) {
        return error instanceof Error ? error.message : 'unknown error'
      } finally {
        await rm(workspacePath, { recursive: true, force: true })
      }
    },
  }
}

/**
 * Lists the unformatted files. `fmt` reads neither providers nor state, so the program is run here; the sidecar has no
 * such job.
 * @param own the file that the harness has put into the root
 */
async function findUnformatted(engine: string, folder: string, own: string, signal: AbortSignal): Promise<string[]> {
  const program = /tofu/i.test(engine) ? 'tofu' : 'terraform'
  const list = ['fmt', '-list=true', '-write=false', '-recursive', '-no-color', '.']
  try {
    // The engine warns on its output about a missing configuration file that the environment names.
    const env = { PATH: process.env.PATH }
    const { stdout } = await promisify(execFile)(program, list, { cwd: folder, env, signal })
    return stdout.split('\n').filter((line) => line !== '' && basename(line) !== own)
  } catch (error) {
    signal.throwIfAborted()
    const { stderr } = error as { stderr?: string }
    if (stderr === undefined) throw error
    return [`fmt failed: ${shortenOutput(stderr)}`]
  }
}
