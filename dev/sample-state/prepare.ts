import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import { writeOverride } from '../../pipeline/workspace/backend-override.ts'
import { writeMarker } from '../../pipeline/workspace/clone.ts'
import { writeStateKeys } from '../../pipeline/workspace/state-keys.ts'
import { silentLogger } from '../../src/base/log.ts'
import { createStateKeys } from '../../src/data/storage/state-keys.ts'
import { deriveProjectId } from '../../src/plan/state/managed-state.ts'
import { createIacClient } from '../../src/services/iac/client.ts'
import type { EngineResult, IacClient } from '../../src/services/iac/types.ts'
import { readText } from '../files.ts'
import { gitOrThrow } from '../git-host/git.ts'
import { loadSecrets } from '../stack/secrets.ts'
import { changeByHand } from './edit.ts'
import { type StateObjects, stateObjects } from './objects.ts'
import type { SampleRoot } from './samples.ts'

/** Gives the roots of sample repositories the state that their past requires. */
export interface SampleStates {
  /** Makes the state of the root what its past says, whatever it is. */
  reset(root: SampleRoot, signal?: AbortSignal): Promise<void>
  /** Does the same, but only for a root without state. */
  prepare(root: SampleRoot, signal?: AbortSignal): Promise<void>
}

/** The scope that requests name. */
const SCOPE = '123456789012'
const CLOUD = 'aws'

/**
 * Makes states on a running stack with an embedded object store and git host. The engine of the stack's iac sidecar
 * applies or imports the code on the default branch of the samples.
 * @param folder data folder of the stack
 */
export async function createSampleStates(folder: string, repositories: readonly string[]): Promise<SampleStates> {
  const config = await loadStackConfiguration(folder)
  const objects = stateObjects(config.storage)
  const iac = createIacClient(config.services.iac, { fetch, log: silentLogger })
  const uriOf = (sample: string) => {
    const uri = repositories.find((address) => address.endsWith(`/${sample}.git`))
    if (!uri) throw new Error(`the git host of this stack has no repository ${sample}`)
    return uri
  }
  const idOf = ({ sample, iac_path }: SampleRoot) => deriveProjectId(uriOf(sample), SCOPE, iac_path)
  const reset: SampleStates['reset'] = async (root, signal) => {
    const projectId = await idOf(root)
    await objects.remove(projectId)
    if (root.past.kind === 'none') return
    const parts = { config, iac, objects, project_id: projectId, uri: uriOf(root.sample) }
    try {
      await inClone(folder, root, (clone) => build(parts, root, clone, signal))
    } catch (error) {
      // A state that is made in part only would count as complete at the next start.
      await objects.remove(projectId)
      throw error
    }
  }
  return {
    reset,
    prepare: async (root, signal) => {
      if ((await objects.read(await idOf(root))) === null) await reset(root, signal)
    },
  }
}

/**
 * Loads the parts of the stack's configuration that are needed here. Other parts, for example a model's key, may be
 * missing.
 */
export async function loadStackConfiguration(folder: string): Promise<Config> {
  const secrets = await loadSecrets(folder)
  const { storage, services, paths } = parse((await readText(join(folder, 'platform.yaml'))) ?? '{}') as Record<
    string,
    Record<string, unknown>
  >
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

/** The source of the keys that jobs of the platform get; undefined when the configuration has lasting ones. */
export const openStateKeys = (config: Config) => createStateKeys(config, { fetch, log: silentLogger }) ?? undefined

async function inClone(folder: string, { sample }: SampleRoot, work: (clone: string) => Promise<void>): Promise<void> {
  const parent = join(folder, 'workspaces')
  await mkdir(parent, { recursive: true })
  const clone = await mkdtemp(join(parent, 'sample-'))
  try {
    await gitOrThrow(['clone', '--quiet', join(folder, 'git-host/repositories/samples', `${sample}.git`), clone])
    await work(clone)
  } finally {
    await rm(clone, { recursive: true, force: true })
  }
}

interface Parts {
  config: Config
  iac: IacClient
  objects: StateObjects
  project_id: string
  uri: string
}

async function build(
  parts: Parts,
  { iac_path, past, sample }: SampleRoot,
  clone: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { config, iac, objects, project_id } = parts
  const workspacePath = join(clone, iac_path ?? '.')
  const scoped = { workspace_path: workspacePath, scope_id: SCOPE, engine_provider: CLOUD } as const
  const planFile = config.paths.session_plan_filename
  const workspace = { uri: parts.uri, branch: '', root_path: iac_path }
  await writeOverride(config, { scope_id: SCOPE, workspace }, workspacePath, silentLogger)
  await writeMarker(clone)
  await writeStateKeys({ config, stateKeys: openStateKeys(config) }, { scope_id: SCOPE, workspace }, workspacePath)
  const engine = (what: string, run: () => Promise<EngineResult>) =>
    runUntilSuccess(`${what} of samples/${sample}`, run)
  await engine('init', () => iac.run('init', scoped, { signal }))
  if (past.kind === 'imported')
    for (const pair of await findImportedBlocks(workspacePath))
      await engine('import', () => iac.run('import', { ...scoped, ...pair }, { signal }))
  if (past.kind !== 'applied') return
  await engine('plan', () => iac.run('plan', { ...scoped, plan_file: planFile }, { signal }))
  await engine('apply', () => iac.run('apply', { ...scoped, plan_file: planFile }, { signal }))
  const state = await objects.read(project_id)
  if (state && past.changes.length > 0) await objects.write(project_id, changeByHand(state, past.changes))
}

const BLOCK = /^resource "([^"]+)" "([^"]+)" \{\n([\s\S]*?)^\}/gm

/** Finds the blocks with a comment that says what they were imported from. Answers their addresses and identifiers. */
async function findImportedBlocks(root: string): Promise<{ address: string; resource_id: string }[]> {
  const files = (await readdir(root)).filter((name) => name.endsWith('.tf')).sort()
  const texts = await Promise.all(files.map((name) => readFile(join(root, name), 'utf8')))
  return texts
    .flatMap((text) => [...text.matchAll(BLOCK)])
    .flatMap(([, type = '', name = '', body = '']) => {
      const resourceId = /^ *# (arn:\S+)$/m.exec(body)?.[1]
      return resourceId ? [{ address: `${type}.${name}`, resource_id: resourceId }] : []
    })
}

const PATIENCE = 20

/** Runs an engine command until it succeeds, because another engine may hold the lock of the state for a moment. */
async function runUntilSuccess(what: string, run: () => Promise<EngineResult>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { exit_code, stderr } = await run()
    if (exit_code === 0) return
    if (attempt >= PATIENCE || !/acquiring the state lock/i.test(stderr))
      throw new Error(`${what} failed: ${stderr.trim().slice(-500)}`)
    await sleep(500)
  }
}
