import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { type Api, createApi } from '../../../../dev/demo/api.ts'
import { type DemoMode, findExample } from '../../../../dev/demo/options.ts'
import { type Stack, startStack } from '../../../../dev/stack/start-stack.ts'

const LIMIT_MS = 600_000
const SCOPE = { scope_id: '123456789012', engine_providers: 'aws' }

export interface Platform {
  stack: Stack
  /** Lines of all logs. */
  logs: Record<string, unknown>[]
  /** Begins a round; `end` resolves with its last status. */
  begin(mode: DemoMode): Promise<{ id: string; end: Promise<string> }>
  api: Api
}

/**
 * The embedded stack with spans and prompts at another address.
 * @param llm section of the configuration, where the model shall not have its usual name
 */
export async function startPlatform(folder: string, collector_url: string, llm?: object): Promise<Platform> {
  await mkdir(folder, { recursive: true })
  const config = join(folder, 'platform.yaml')
  await writeFile(config, stringify({ telemetry: { collector_url }, ...(llm && { llm }) }))
  const logs: Platform['logs'] = []
  const { PATH = '', HOME = '' } = process.env
  const stack = await startStack({
    folder: join(folder, 'stack'),
    // The model list has a key of its own, but the variable of the provider is asked for at boot all the same.
    env: { PATH, HOME, PLATFORM_PORT: '0', PLATFORM_CONFIG: config, ...(llm && { OPENAI_API_KEY: 'unused' }) },
    onLine: (process, line) => {
      if (line.startsWith('{')) logs.push({ ...JSON.parse(line), process })
    },
  })
  const api = createApi(stack.url, AbortSignal.timeout(LIMIT_MS))
  return {
    stack,
    logs,
    api,
    begin: async (mode) => {
      const { route, request: q, sample, iac_path } = findExample(mode)
      const repo_uri = stack.git_host?.repositories.find((address) => address.endsWith(`/${sample}.git`))
      const id = await api.schedule(route, { q, repo_uri, iac_path, ...SCOPE })
      const follow = async () => {
        let last = ''
        for await (const status of api.events(id)) last = status
        return last
      }
      return { id, end: follow() }
    },
  }
}
