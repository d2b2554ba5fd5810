import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import { describeState, writeOverride, writeStateKeys } from '../../pipeline/workspace/backend-override.ts'
import { writeMarker } from '../../pipeline/workspace/clone.ts'
import { adoptSharedMode } from '../../pipeline/workspace/files/private-files.ts'
import { silentLogger } from '../../src/base/log.ts'
import type { Cloud } from '../../src/base/vocabulary.ts'
import { createStateKeys } from '../../src/data/storage/state-keys.ts'
import { createIacClient } from '../../src/services/iac/client.ts'
import type { EngineResult, EngineRoot, IacClient } from '../../src/services/iac/contract.ts'
import { readText } from '../files.ts'
import { gitOrThrow } from '../git-host/repositories.ts'
import type { Document } from '../stack/choices.ts'
import { loadSecrets } from '../stack/configuration.ts'

export interface EngineRootRequest {
  /** Address or path that is cloned. */
  source: string
  /** Address of the repository in requests, which the state belongs to. */
  uri: string
  branch: string
  iac_path: string | null
  scope_id: string
  cloud: Cloud
}

/** The engine has refused a command. The text is the engine's own, shortened. */
export class EngineRefused extends Error {}

/**
 * Connects to the engine of the iac sidecar of a running stack.
 * @param folder data folder of the stack
 */
export async function connectStackEngine(folder: string) {
  const config = await loadStackConfiguration(folder)
  const iac = createIacClient(config.services.iac, { fetch, log: silentLogger })
  const stateKeys = createStateKeys(config, { fetch, log: silentLogger }) ?? undefined
  /** Makes a folder that the sidecar can use, also under an account of its own. */
  const makeFolder = async () => {
    const parent = join(folder, 'workspaces')
    await mkdir(parent, { recursive: true })
    const isShared = await adoptSharedMode(parent)
    const made = await mkdtemp(join(parent, 'root-'))
    if (isShared) await chmod(made, 0o2770)
    return made
  }
  const open = async ({ source, uri, branch, iac_path, scope_id, cloud }: EngineRootRequest) => {
    const clone = await makeFolder()
    const dispose = () => rm(clone, { recursive: true, force: true })
    try {
      await gitOrThrow(['clone', '--quiet', '--branch', branch, source, clone])
      const path = join(clone, iac_path ?? '.')
      const owner = { scope_id, workspace: { uri, branch, root_path: iac_path } }
      await writeOverride(config, owner, path, silentLogger)
      await writeMarker(clone)
      await writeStateKeys({ config, stateKeys }, owner, path)
      const place = { workspace_path: path, ...(await describeState(config, owner)) }
      return { clone, path, ...commandsIn({ config, iac, place, scope_id, cloud }), dispose }
    } catch (error) {
      await dispose()
      throw error
    }
  }
  return { config, iac, makeFolder, open }
}

/** Loads the needed parts of the stack's configuration. Others, for example a model's key, may be missing. */
async function loadStackConfiguration(folder: string): Promise<Config> {
  const secrets = await loadSecrets(folder)
  const document: Record<string, Document> = parse((await readText(join(folder, 'platform.yaml'))) ?? '{}')
  const { storage, services, paths } = document
  const env = {
    PLATFORM_CONFIG: 'parts of the configuration of the stack',
    PLATFORM_SQL_DATABASE_URL: 'postgresql://unused@127.0.0.1/unused',
    PLATFORM_IAC_TOKEN: secrets.iac_token,
    BUNDLED_ACCESS_KEY: secrets.object_access_key,
    BUNDLED_SECRET_KEY: secrets.object_secret_key,
    OPENAI_API_KEY: 'unused',
  }
  const llm = { model: 'openai/unused', small_model: 'openai/unused' }
  return await loadConfig(env, async () => JSON.stringify({ storage, services: { iac: services?.iac }, paths, llm }))
}

function commandsIn(root: { config: Config; iac: IacClient; place: EngineRoot; scope_id: string; cloud: Cloud }) {
  const { config, iac, place, scope_id, cloud } = root
  const plan_file = config.paths.session_plan_filename
  const scoped = { ...place, scope_id, engine_provider: cloud }
  let initialised = false
  const init = async (signal?: AbortSignal) => {
    if (!initialised) await runUntilSuccess('init', () => iac.run('init', scoped, { signal }))
    initialised = true
  }
  const plan = async (signal?: AbortSignal) => {
    await init(signal)
    await runUntilSuccess('plan', () => iac.run('plan', { ...scoped, plan_file }, { signal }))
  }
  return {
    /** Makes a plan and returns it as the engine's JSON. */
    plan: async (signal?: AbortSignal): Promise<string> => {
      await plan(signal)
      return (await runUntilSuccess('show', () => iac.run('show', { ...place, plan_file }, { signal }))).stdout
    },
    apply: async (signal?: AbortSignal) => {
      await plan(signal)
      await runUntilSuccess('apply', () => iac.run('apply', { ...scoped, plan_file }, { signal }))
    },
    /** Lists the blocks that have an identifier in a comment. */
    commented: () => findCommentedBlocks(place.workspace_path),
    /** Imports these blocks. */
    importCommented: async (signal?: AbortSignal) => {
      await init(signal)
      for (const pair of await findCommentedBlocks(place.workspace_path))
        await runUntilSuccess('import', () => iac.run('import', { ...scoped, ...pair }, { signal }))
    },
  }
}

const PATIENCE = 20

/** Repeats an engine command until it succeeds, because another engine may briefly hold the lock of the state. */
async function runUntilSuccess(what: string, run: () => Promise<EngineResult>): Promise<EngineResult> {
  for (let attempt = 1; ; attempt++) {
    const result = await run()
    if (result.exit_code === 0) return result
    if (attempt >= PATIENCE || !/acquiring the state lock/i.test(result.stderr))
      throw new EngineRefused(`${what} failed: ${shortenOutput(result.stderr)}`)
    await sleep(500)
  }
}

/** Puts a message of the engine into one line of at most `limit` characters. */
export function shortenOutput(stderr: string, limit = 400): string {
  const line = stderr.replaceAll(/[\s│╷╵]+/g, ' ').trim()
  return line.length > limit ? `${line.slice(0, limit)}…` : line
}

const BLOCK = /^resource "([^"]+)" "([^"]+)" \{\n([\s\S]*?)^\}/gm

/** Finds the blocks with a comment that names their source. Returns their addresses and identifiers. */
async function findCommentedBlocks(root: string): Promise<{ address: string; resource_id: string }[]> {
  const files = (await readdir(root)).filter((name) => name.endsWith('.tf')).sort()
  const texts = await Promise.all(files.map((name) => readFile(join(root, name), 'utf8')))
  return texts
    .flatMap((text) => [...text.matchAll(BLOCK)])
    .flatMap(([, type = '', name = '', body = '']) => {
      const resource_id = /^ *# (arn:\S+)$/m.exec(body)?.[1]
      return resource_id ? [{ address: `${type}.${name}`, resource_id }] : []
    })
}
