import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { readText } from '../dev/files.ts'
import type { GitHost } from '../dev/git-host/start.ts'
import { connectStackEngine, type EngineRootRequest, shortenOutput } from '../dev/sample-state/engine-root.ts'
import type { Cloud } from '../src/base/vocabulary.ts'

export type EngineRoots = Awaited<ReturnType<typeof createEngineRoots>>
/** A clone of a branch for checking the results of a session. */
export type BranchRoot = Awaited<ReturnType<EngineRoots['open']>>

/**
 * Makes roots that use the engine of the stack's iac sidecar.
 * @param folder data folder of the stack
 * @param engineName its name, as the stack says it
 */
export async function createEngineRoots(folder: string, host: Pick<GitHost, 'pathOf'>, engineName: string) {
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
