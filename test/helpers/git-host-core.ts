import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from '../../dev/git-host/accounts.ts'
import { type GitHost, startGitHost } from '../../dev/git-host/start.ts'
import { silentLogger } from '../../src/base/log.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import { trust } from '../repository/support.ts'
import { createTestCore, type TestCore } from './core.ts'
import { type ModelServer, modelConfig, script, startModelServer, toolCall } from './model-server.ts'

/** Starts a git host on this machine whose certificate this process accepts. `close` also removes its folder. */
export async function startTrustedHost(options: { path?: string; accounts?: Account[] } = {}): Promise<GitHost> {
  const folder = await mkdtemp(join(tmpdir(), 'git-host-'))
  const host = await startGitHost({
    data_dir: folder,
    user: 'bot',
    token: 'token-of-the-bot',
    samples: false,
    ...options,
  })
  trust(host.caPem)
  const close = async () => {
    await host.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { ...host, close }
}

export interface GitHostCore extends TestCore {
  host: GitHost
  /** Can write a pull request's text and nothing else. */
  model: ModelServer
}

/** Starts a core with a real git host and a model that writes the text of a pull request. */
export async function startGitHostCore(options: { path?: string } = {}): Promise<GitHostCore> {
  const host = await startTrustedHost(options)
  const model = await startModelServer(
    script(toolCall('generate_pull_request', { title: 'Add a bucket', description: 'For the logs.' })),
  )
  const fetch: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, init)
  const core = await createTestCore({
    yaml: `git: { base_url: "${host.url}" }`,
    context: { llm: createLlmClient(modelConfig(model.url), { fetch, log: silentLogger }) },
  })
  const close = async () => {
    await core.close()
    await model.close()
    await host.close()
  }
  return { ...core, host, model, close }
}
