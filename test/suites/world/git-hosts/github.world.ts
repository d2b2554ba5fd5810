import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
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
  await pulls.merge(id, { commit, confirm, signal })
  await expect(pulls.merge(id, { commit, confirm, signal })).rejects.toMatchObject({ status: 404 })
  expect(exchanges.map(({ method, status }) => `${method} ${status}`)).toEqual([
    'post 422',
    'get 200',
    'post 201',
    'post 422',
    'get 200',
    'get 200',
    'get 404',
    'get 200',
    'put 200',
    'get 200',
  ])
  expect([...new Set(exchanges.flatMap((exchange) => check(exchange)))]).toEqual([UNNAMED])
})
