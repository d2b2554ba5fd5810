import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { silentLogger } from '../../../../src/base/log.ts'
import { createLlmClient } from '../../../../src/llm/client.ts'
import type { InferenceRequest, LlmClient } from '../../../../src/llm/inference.ts'
import { modelConfig } from '../../../helpers/model-server.ts'
import { freePort, type Service, startService } from '../tools/service.ts'

const { LLAMA_PYTHON = '', LITELLM = '', TINY_MODEL = '', PATH = '', HOME = '' } = process.env

export interface ModelServer extends Service {
  /** Its interface of chat completions. */
  url: string
}

/**
 * Starts the server of llama.cpp with the tiny model.
 * @param form `parsed`: calls and thoughts as the server reads them; `raw`: what the model wrote
 */
export async function startLlama(form: 'parsed' | 'raw', contextTokens: number): Promise<ModelServer> {
  const port = await freePort()
  const script = join(import.meta.dirname, 'llama_server.py')
  const url = `http://127.0.0.1:${port}`
  const service = await startService(LLAMA_PYTHON, [script, TINY_MODEL, String(port), String(contextTokens), form], {
    ready: () => mustAnswer(`${url}/health`),
  })
  return { ...service, url: `${url}/v1` }
}

/** Starts LiteLLM's proxy. @param models the `litellm_params` of each model by its name */
export async function startProxy(folder: string, models: Record<string, object>): Promise<ModelServer> {
  const port = await freePort()
  const config = join(folder, 'litellm.yaml')
  const list = Object.entries(models).map(([model_name, litellm_params]) => ({ model_name, litellm_params }))
  await writeFile(config, stringify({ model_list: list, litellm_settings: { telemetry: false } }))
  const url = `http://127.0.0.1:${port}`
  const service = await startService(LITELLM, ['--config', config, '--host', '127.0.0.1', '--port', String(port)], {
    cwd: folder,
    // The table of prices that is part of the package, in place of one from the network.
    env: { PATH, HOME, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_TELEMETRY: 'False' },
    ready: () => mustAnswer(`${url}/health/liveliness`),
    seconds: 240,
  })
  return { ...service, url: `${url}/v1` }
}

async function mustAnswer(url: string): Promise<void> {
  const { ok } = await fetch(url, { signal: AbortSignal.timeout(5_000) })
  if (!ok) throw new Error(`${url} is not ready`)
}

/** The platform's client of a model behind a server. @param stream whether answers are asked for as streams */
export function clientOf(url: string, model: string, stream = false): LlmClient {
  const name = `custom_openai/${model}`
  const credentials = { CUSTOM_OPENAI_API_BASE: url }
  const models = { model: name, small_model: name }
  const config = modelConfig('', { ...models, credentials, stream, max_output_tokens: 500, timeout: 60 })
  return createLlmClient(config, { fetch, log: silentLogger, backoffMs: 1 })
}

export const TOOLS = [
  {
    name: 'read_file',
    description: 'Reads a file.',
    parameters: { type: 'object', properties: { target_file: { type: 'string' } }, required: ['target_file'] },
  },
  { name: 'list_dir', description: 'Lists the root folder.', parameters: { type: 'object', properties: {} } },
]
export const QUESTION: InferenceRequest = {
  role: 'main',
  messages: [
    { role: 'system', content: 'You look after infrastructure code.' },
    { role: 'user', content: 'Is the bucket private?' },
  ],
  tools: TOOLS,
}
/** What the tiny model calls when it is asked, and says when it has read the answers of its calls. */
export const CALLS = [
  { name: 'read_file', args: { target_file: 'main.tf' } },
  { name: 'list_dir', args: {} },
]
export const ANSWER = 'The bucket is private.'
