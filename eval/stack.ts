import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { readText, writeAtomically } from '../dev/files.ts'
import type { GitHost } from '../dev/git-host/start.ts'
import { PROJECT_ROOT } from '../dev/stack/data-folder.ts'
import { type Stack, startStack } from '../dev/stack/start-stack.ts'
import { isJsonObject } from '../src/base/json.ts'
import { createEngineRoots, type EngineRoots } from './engine-root.ts'

/** An embedded stack that uses nothing of the operator except the model. */
export interface EvalStack {
  url: string
  git_host: GitHost
  roots: EngineRoots
  model: Stack['model']
  engine: Stack['engine']
  failed: Promise<string>
  stop(): Promise<void>
}
export interface EvalStackOptions {
  folder: string
  env: Record<string, string | undefined>
  /** True uses the scripted model, whatever is set. */
  scripted: boolean
  /** How many samples run at the same time. */
  concurrency: number
  /** Folder for the model traffic of every round; null when it is not recorded. */
  record_folder: string | null
  onLine?: (name: string, line: string) => void
  signal?: AbortSignal
}

/** Starts the stack. Errors: those of the stack's start. */
export async function startEvalStack(options: EvalStackOptions): Promise<EvalStack> {
  const { folder, scripted, signal, onLine } = options
  const env = { ...options.env, PLATFORM_CONFIG: await writeConfiguration(options), PLATFORM_PORT: undefined }
  const stack = await startStack({
    folder: join(folder, 'stack'),
    env,
    embedded: scripted || 'but the model',
    onLine,
    signal,
  })
  try {
    const { git_host } = stack.addresses
    if (!git_host) throw new Error('the stack has no git host of its own')
    const { url, model, engine, failed, stop } = stack
    return {
      url,
      git_host,
      roots: await createEngineRoots(join(folder, 'stack'), git_host),
      model,
      engine,
      failed,
      stop,
    }
  } catch (error) {
    await stack.stop()
    throw error
  }
}

/** Writes the operator's configuration with what an evaluation needs in addition. */
async function writeConfiguration({ folder, env, concurrency, record_folder }: EvalStackOptions): Promise<string> {
  const ownPath = env.PLATFORM_CONFIG?.trim()
  const text = await readText(ownPath || SHIPPED)
  if (text === null) throw new Error(`The configuration file ${ownPath} cannot be used: there is none.`)
  const own: unknown = parse(text) ?? {}
  // A model in the operator's file was chosen by the operator; the one in the shipped file is only a default.
  const unchosen = ownPath ? [] : ['model', 'small_model']
  const section = (name: string): Record<string, unknown> => {
    const value = isJsonObject(own) ? own[name] : undefined
    return isJsonObject(value) ? value : {}
  }
  const path = join(folder, 'evaluation.yaml')
  const document = {
    ...(isJsonObject(own) ? own : {}),
    llm: { ...without(section('llm'), unchosen), ...(record_folder !== null && { record_folder }) },
    worker: { ...section('worker'), concurrency },
    // The spans of an evaluation must not be sent to the operator's collector.
    telemetry: without(section('telemetry'), ['collector_url']),
  }
  await writeAtomically(path, stringify(document))
  return path
}

const SHIPPED = join(PROJECT_ROOT, 'config/platform.yaml')

const without = (section: Record<string, unknown>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(section).filter(([name]) => !names.includes(name)))
