import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { MergeRules } from '../../../../dev/git-host/merge-rules.ts'
import { createPullRequestHost } from '../../../../src/pull-requests/host-of.ts'
import { configOf } from '../../../helpers/core.ts'
import { startTrustedHost } from '../../../helpers/git-host-core.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { createChecker, type Exchange, exchangeOf } from './openapi.ts'

const run = promisify(execFile)
const host = startOnce(startTrustedHost)
const signal = new AbortController().signal
const confirm = async () => {}

/** The platform's client on the bundled host, with all that goes over the wire. */
async function connect(repository: string) {
  const exchanges: Exchange[] = []
  const recording = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    const copy = request.clone()
    const response = await fetch(request)
    exchanges.push(await exchangeOf(host.api_url, copy, response))
    return response
  }
  const config = await configOf(
    `git: { base_url: "${host.url}", api_url: "${host.api_url}" }\norchestration: { pull_request_readiness_seconds: 1 }`,
  )
  return { exchanges, pulls: createPullRequestHost({ config, fetch: recording }, repository) }
}

/** A repository whose branch `change` is one commit ahead; answers that commit. */
async function branchOf(repository: string): Promise<string> {
  const git = async (...args: string[]) => {
    const flags = ['-C', host.pathOf(repository), '-c', 'user.name=t', '-c', 'user.email=t@example.org']
    return (await run('git', [...flags, ...args])).stdout.trim()
  }
  const commit = await git('commit-tree', 'main^{tree}', '-p', 'main', '-m', 'Platform changes')
  await git('update-ref', 'refs/heads/change', commit)
  return commit
}

/** GitHub repeats the status in the body of each refusal; its document names the field for all but invalid input. */
const UNNAMED = 'answer.status is unknown'

/** Everything about which the platform asks, so that each answer is compared with the document. */
const RULES: MergeRules = {
  is_admin: true,
  rules: [
    { type: 'required_linear_history' },
    { type: 'required_signatures' },
    {
      type: 'pull_request',
      parameters: {
        allowed_merge_methods: ['squash'],
        required_approving_review_count: 2,
        require_code_owner_review: true,
        require_last_push_approval: false,
        required_review_thread_resolution: true,
        dismiss_stale_reviews_on_push: false,
      },
    },
    {
      type: 'required_status_checks',
      parameters: {
        required_status_checks: [{ context: 'plan' }, { context: 'cost' }],
        strict_required_status_checks_policy: false,
      },
    },
  ],
  protection: {
    required_status_checks: { strict: false, contexts: ['unit'] },
    required_pull_request_reviews: { required_approving_review_count: 1 },
    required_signatures: { enabled: true },
    required_linear_history: { enabled: true },
    lock_branch: { enabled: false },
  },
  check_runs: [{ name: 'plan', status: 'completed', conclusion: 'failure' }],
  statuses: [{ context: 'cost', state: 'pending' }],
  reviews: [{ login: 'ada', state: 'APPROVED' }],
}

const NEW = { title: 'Add a bucket', description: 'Why.', head: 'change', base: 'main' }

it('all that is said about a pull request is as GitHub describes it, also what is refused', async () => {
  const check = createChecker(JSON.parse(await readFile(process.env.GITHUB_OPENAPI ?? '', 'utf8')))
  const repository = await host.addRepository({
    owner: 'acme',
    name: 'one',
    content: { files: { 'main.tf': '# 1\n' } },
  })
  const { exchanges, pulls } = await connect(repository)
  await expect(pulls.create(NEW, signal)).rejects.toMatchObject({ status: 422 })
  const commit = await branchOf(repository)
  const { id } = await pulls.create(NEW, signal)
  expect(await pulls.create(NEW, signal)).toMatchObject({ id })
  await expect(pulls.merge(id, { commit: 'f'.repeat(40), confirm, signal })).rejects.toMatchObject({ status: 409 })
  await expect(pulls.merge(99, { commit, confirm, signal })).rejects.toMatchObject({ status: 404 })
  await host.setRules(repository, RULES)
  await pulls.readiness(id, { commit, signal })
  await expect(pulls.merge(id, { commit, confirm, signal })).rejects.toMatchObject({ status: 405 })
  await host.setRules(repository, { allow_merge_commit: false })
  expect(await pulls.merge(id, { commit, confirm, signal })).toBe('merged')
  expect(await pulls.merge(id, { commit, confirm, signal })).toBe('merged_before')
  expect(exchanges.map(({ method, status }) => `${method} ${status}`)).toEqual([
    'post 422',
    'get 200',
    'post 201',
    'post 422',
    'get 200',
    'get 200',
    'get 404',
    // The readiness: the pull request, repository and rules, protection, and what is behind each requirement.
    ...Array(9).fill('get 200'),
    ...['get 200', 'get 200', 'get 200', 'put 405'],
    ...['get 200', 'get 200', 'get 200', 'put 200'],
    'get 200',
  ])
  expect([...new Set(exchanges.flatMap((exchange) => check(exchange)))]).toEqual([UNNAMED])
})
