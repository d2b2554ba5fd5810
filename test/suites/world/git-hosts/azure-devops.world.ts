import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createPullRequestHost } from '../../../../src/pull-requests/host-of.ts'
import { configOf } from '../../../helpers/core.ts'
import { recorded } from './faked.ts'
import { createChecker } from './openapi.ts'

const COMMIT = 'b60280bc6e62e2f880f1b63c1e24987664d3bda3'
const USER = 'd6245f20-2af8-44f4-9451-8107cb2767db'
const signal = new AbortController().signal
/** As in `test/pull-requests/hosts.test.ts`. */
const pull = {
  pullRequestId: 22,
  status: 'active',
  isDraft: false,
  sourceRefName: 'refs/heads/Platform/x',
  targetRefName: 'refs/heads/main',
  reviewers: [{ id: USER, vote: 0 }],
  mergeStatus: 'succeeded',
  url: 'https://dev.azure.com/acme/My%20Project/_apis/git/repositories/Infra/pullrequests/22',
  lastMergeSourceCommit: { commitId: COMMIT },
  repository: { id: '3411ebc1-d5aa-464f-9615-0b527bc66719', project: { id: 'a7573007-bbb3-4341-b726-0c4148a07853' } },
}
/** A policy that limits the methods of merges, as the examples beside the document have it. */
const evaluation = {
  evaluationId: 'a1ec6af9-1a3c-4d2b-9d2a-6b0f3f6d1c11',
  status: 'approved',
  configuration: {
    isEnabled: true,
    isBlocking: true,
    type: { id: 'fa4e907d-c16b-4a4c-9dfa-4916e5d171ab', displayName: 'Require a merge strategy' },
    settings: { allowSquash: true },
  },
}
/** The document leaves out the envelope with its count, in which every list arrives. */
const ENVELOPE = 'answer must be array {"type":"array"}'
/** The caller is read from an interface that all of the vendor's clients use and that no document describes. */
const UNDOCUMENTED = 'no operation get /acme/_apis/connectionData'
/** The examples beside the document answer a new pull request with 201, the document itself names 200 alone. */
const CREATED = 'no answer 201 is documented'

it('all that is said about a pull request is as Azure DevOps describes it', async () => {
  const [document, policies] = await Promise.all(
    [process.env.AZURE_OPENAPI, process.env.AZURE_POLICY_OPENAPI].map(async (file = '') =>
      JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, '')),
    ),
  )
  const config = await configOf('git: { provider: AZURE_DEVOPS }')
  const host = createPullRequestHost(
    { config, fetch: (input, init) => globalThis.fetch(input, init) },
    'https://acme@dev.azure.com/acme/My%20Project/_git/Infra',
  )
  const answers = {
    'POST /pullrequests': { status: 201, body: pull },
    'GET /connectionData': { body: { authenticatedUser: { id: USER } } },
    [`PUT /reviewers/${USER}`]: { body: { id: USER, vote: 10 } },
    'GET /22': { body: pull },
    'GET /repositories/Infra': { body: { id: pull.repository.id, name: 'Infra', defaultBranch: 'refs/heads/main' } },
    'GET /evaluations': { body: { count: 1, value: [evaluation] } },
    'PATCH /22': { body: { ...pull, status: 'completed' } },
  }
  const exchanges = await recorded('https://dev.azure.com', answers, async () => {
    await host.create({ title: 'Add a bucket', description: 'Why.', head: 'Platform/x', base: 'main' }, signal)
    expect(await host.readiness(22, { commit: COMMIT, signal })).toMatchObject({ status: 'ready', method: 'squash' })
    await host.merge(22, { commit: COMMIT, confirm: async () => {}, signal })
  })
  // The readiness: pull request, repository and policies; the merge begins and reads as much again.
  expect(exchanges).toHaveLength(11)
  const [check, checkPolicy] = [createChecker(document), createChecker(policies)]
  const problems = exchanges.flatMap((exchange) =>
    exchange.segments.includes('policy') ? checkPolicy(exchange) : check(exchange),
  )
  expect([...new Set(problems)]).toEqual([CREATED, ENVELOPE, UNDOCUMENTED])
})
