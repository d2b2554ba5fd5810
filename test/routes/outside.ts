import type { GitHost } from '../../dev/git-host/start.ts'
import type { LlmClient } from '../../src/llm/inference.ts'
import type { TestCore } from '../helpers/core.ts'
import { startTrustedHost } from '../helpers/git-host-core.ts'
import { openSession, runRound } from '../helpers/sessions.ts'
import { scriptedLlm } from '../pipeline/steps/scripted-llm.ts'
import { pushBranch } from './push-branch.ts'

export interface Outside {
  host: GitHost
  repository: string
  /** The `git` section that names this host. */
  yaml: string
  /** A session of this user that ran, with a branch of its own at the host. */
  ranSession(context: TestCore['context'], user_id: number): Promise<string>
  close(): Promise<void>
}

/** A git host of this machine with one repository. */
export async function startOutside(): Promise<Outside> {
  const host = await startTrustedHost()
  const files = { 'main.tf': '', 'live/network/main.tf': '' }
  const repository = await host.addRepository({ owner: 'acme', name: 'infrastructure', content: { files } })
  return {
    host,
    repository,
    yaml: `git: { base_url: "${host.url}", api_url: "${host.api_url}" }`,
    ranSession: async (context, user_id) => {
      const uuid = await openSession(context, user_id, { repo_uri: repository })
      const run = await runRound(context, uuid)
      await pushBranch(host.pathOf(repository), run.round.session.workspace.branch)
      await run.finish('completed', 'GENERATE', [{ user: 'Add a bucket', assistant: 'Added.' }])
      return uuid
    },
    close: () => host.close(),
  }
}

/** A model that can name a pull request and nothing else. */
export const prWriter = (): LlmClient =>
  scriptedLlm({ generate_pull_request: { args: { title: 'Add a bucket', description: 'For the build logs.' } } })
