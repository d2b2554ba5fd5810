import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../config/types.ts'
import { readText } from '../dev/files.ts'
import { gitOrThrow } from '../dev/git-host/git.ts'
import type { GitHost } from '../dev/git-host/start.ts'
import { loadStackConfiguration, openStateKeys } from '../dev/sample-state/prepare.ts'
import { writeOverride } from '../pipeline/workspace/backend-override.ts'
import { writeMarker } from '../pipeline/workspace/clone.ts'
import { writeStateKeys } from '../pipeline/workspace/state-keys.ts'
import { silentLogger } from '../src/base/log.ts'
import type { Cloud } from '../src/base/vocabulary.ts'
import { type Plan, parsePlan } from '../src/plan/plan.ts'
import { createIacClient } from '../src/services/iac/client.ts'
import type { EngineResult, IacClient } from '../src/services/iac/types.ts'

/** A clone of a branch, apart from the platform's own, with the managed state of its root. */
export interface EngineRoot {
  plan(signal: AbortSignal): Promise<Plan>
  /** Applies the code. */
  apply(signal: AbortSignal): Promise<void>
  /** Imports every block that has an identifier in a comment. */
  importCommented(signal: AbortSignal): Promise<void>
  file(path: string): Promise<string | null>
  /** Paths of the files in the whole repository that the engine's `fmt` would change. */
  unformatted(signal: AbortSignal): Promise<string[]>
  dispose(): Promise<void>
}
export interface RootRequest {
  uri: string
  branch: string
  iac_path: string | null
  scope_id: string
  cloud: Cloud
}

export interface EngineRoots {
  config: Config
  open(request: RootRequest): Promise<EngineRoot>
  /** Runs `init` in a root with only these files. Answers its fault; null when it works. */
  initFault(files: Record<string, string>, cloud: Cloud, signal: AbortSignal): Promise<string | null>
}

/**
 * Makes roots that use the engine of the stack's iac sidecar.
 * @param folder data folder of the stack
 * @param engine its name, as the stack says it
 */
export async function createEngineRoots(
  folder: string,
  host: Pick<GitHost, 'pathOf'>,
  engine: string,
): Promise<EngineRoots> {
  const config = await loadStackConfiguration(folder)
  const iac = createIacClient(config.services.iac, { fetch, log: silentLogger })
  const parent = join(folder, 'workspaces')
  const temporary = async () => {
    await mkdir(parent, { recursive: true })
    return await mkdtemp(join(parent, 'eval-'))
  }
  return {
    config,
    open: async (request) => {
      const clone = await temporary()
      try {
        await gitOrThrow(['clone', '--quiet', '--branch', request.branch, host.pathOf(request.uri), clone])
        const workspacePath = join(clone, request.iac_path ?? '.')
        const workspace = { uri: request.uri, branch: request.branch, root_path: request.iac_path }
        await writeOverride(config, { scope_id: request.scope_id, workspace }, workspacePath, silentLogger)
        await writeMarker(clone)
        await writeStateKeys(
          { config, stateKeys: openStateKeys(config) },
          { scope_id: request.scope_id, workspace },
          workspacePath,
        )
        return engineRoot({ config, iac, engine, clone, workspace_path: workspacePath }, request)
      } catch (error) {
        await rm(clone, { recursive: true, force: true })
        throw error
      }
    },
    initFault: async (files, cloud, signal) => {
      const workspacePath = await temporary()
      try {
        for (const [name, text] of Object.entries(files)) await writeFile(join(workspacePath, name), text)
        const { exit_code, stderr } = await iac.run(
          'init',
          { workspace_path: workspacePath, scope_id: 'probe', engine_provider: cloud },
          { signal },
        )
        return exit_code === 0 ? null : lastWords(stderr)
      } catch (error) {
        return error instanceof Error ? error.message : 'unknown error'
      } finally {
        await rm(workspacePath, { recursive: true, force: true })
      }
    },
  }
}

interface Parts {
  config: Config
  iac: IacClient
  engine: string
  clone: string
  workspace_path: string
}

function engineRoot(
  { config, iac, engine, clone, workspace_path }: Parts,
  { scope_id, cloud }: RootRequest,
): EngineRoot {
  const scoped = { workspace_path, scope_id, engine_provider: cloud }
  const planFile = config.paths.session_plan_filename
  let initialised = false
  const init = async (signal: AbortSignal) => {
    if (!initialised) await succeed('init', iac.run('init', scoped, { signal }))
    initialised = true
  }
  return {
    plan: async (signal) => {
      await init(signal)
      await succeed('plan', iac.run('plan', { ...scoped, plan_file: planFile }, { signal }))
      return parsePlan(
        (await succeed('show', iac.run('show', { workspace_path, plan_file: planFile }, { signal }))).stdout,
      )
    },
    apply: async (signal) => {
      await init(signal)
      await succeed('plan', iac.run('plan', { ...scoped, plan_file: planFile }, { signal }))
      await succeed('apply', iac.run('apply', { ...scoped, plan_file: planFile }, { signal }))
    },
    importCommented: async (signal) => {
      await init(signal)
      for (const pair of await commentedBlocks(workspace_path))
        await succeed('import', iac.run('import', { ...scoped, ...pair }, { signal }))
    },
    file: async (path) => {
      const full = resolve(workspace_path, path)
      return full.startsWith(`${clone}${sep}`) ? await readText(full) : null
    },
    unformatted: (signal) => findUnformatted(engine, clone, config.paths.backend_override_filename, signal),
    dispose: () => rm(clone, { recursive: true, force: true }),
  }
}

const run = promisify(execFile)

/**
 * Asks the engine which files are not formatted. `fmt` reads neither providers nor state, so the program is run here and
 * not by the sidecar, which has no such job.
 * @param own the file that the harness has put into the root
 */
async function findUnformatted(engine: string, folder: string, own: string, signal: AbortSignal): Promise<string[]> {
  const program = /tofu/i.test(engine) ? 'tofu' : 'terraform'
  const list = ['fmt', '-list=true', '-write=false', '-recursive', '-no-color', '.']
  try {
    const { stdout } = await run(program, list, { cwd: folder, signal })
    return stdout.split('\n').filter((line) => line !== '' && basename(line) !== own)
  } catch (error) {
    signal.throwIfAborted()
    const { stderr } = error as { stderr?: string }
    if (stderr === undefined) throw error
    return [`fmt failed: ${lastWords(stderr)}`]
  }
}

/** The engine has refused a command. The text is the engine's own, shortened. */
export class EngineRefused extends Error {}

async function succeed(what: string, running: Promise<EngineResult>): Promise<EngineResult> {
  const result = await running
  if (result.exit_code !== 0) throw new EngineRefused(`${what} failed: ${lastWords(result.stderr)}`)
  return result
}

const lastWords = (stderr: string): string =>
  stderr
    .replaceAll(/[\s│╷╵]+/g, ' ')
    .trim()
    .slice(0, 400)

const BLOCK = /^resource "([^"]+)" "([^"]+)" \{\n([\s\S]*?)^\}/gm

async function commentedBlocks(root: string): Promise<{ address: string; resource_id: string }[]> {
  const names = (await readdir(root)).filter((name) => name.endsWith('.tf')).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(root, name), 'utf8')))
  return texts
    .flatMap((text) => [...text.matchAll(BLOCK)])
    .flatMap(([, type = '', name = '', body = '']) => {
      const resourceId = /^ *# (arn:\S+)$/m.exec(body)?.[1]
      return resourceId ? [{ address: `${type}.${name}`, resource_id: resourceId }] : []
    })
}
