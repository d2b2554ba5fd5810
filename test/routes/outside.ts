import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { GitHost } from '../../dev/git-host/start.ts'
import type { LlmClient } from '../../src/llm/inference.ts'
import type { TestCore } from '../helpers/core.ts'
import { startTrustedHost } from '../helpers/git-host-core.ts'
import { openSession, runRound } from '../helpers/sessions.ts'
import { scriptedLlm } from '../pipeline/steps/scripted-llm.ts'

export interface Outside {
  host: GitHost
  repository: string
  /** The `git` section of the configuration for this host. */
  yaml: string
  /** Creates a session of this user that has run, with a branch at the host. */
  ranSession(context: TestCore['context'], user_id: number): Promise<string>
  close(): Promise<void>
}

/** Pushes a branch with one commit into a bare repository, as a round does. */
export async function pushBranch(repository: string, branch: string): Promise<void> {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.org']
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', ['-C', repository, ...who, ...args])).stdout.trim()
  const commit = await git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'Platform changes')
  await git('update-ref', `refs/heads/${branch}`, commit)
}

/** Starts a git host on this machine with one repository. */
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

/** Creates a model that writes a pull request's text and nothing else. */
export const prWriter = (): LlmClient =>
  scriptedLlm({ generate_pull_request: { args: { title: 'Add a bucket', description: 'For the build logs.' } } })
