import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { createPullRequestHost } from '../../../../src/pull-requests/host-of.ts'
import { configOf } from '../../../helpers/core.ts'
import { recorded } from './faked.ts'
import { createChecker } from './openapi.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const signal = new AbortController().signal
/** As in `test/pull-requests/hosts.test.ts`. */
const made = {
  id: 84,
  iid: 5,
  web_url: 'https://gitlab.com/Acme/Infra/-/merge_requests/5',
  state: 'opened',
  title: 'Add a bucket',
  source_branch: 'Platform/x',
  target_branch: 'main',
}
const merged = { ...made, state: 'merged', merge_commit_sha: '9999999999999999999999999999999999999999' }

/** The pages of GitLab show an approval with its numbers and a list; its document describes neither, and we read none. */
const APPROVAL = [
  'answer/approved_by must be object {"type":"object"}',
  'answer.id is unknown',
  'answer.iid is unknown',
]

/** The document calls all that has no form of its own a string; its pages and servers have booleans. */
const BOOLEANS = ['draft', 'has_conflicts'].map((name) => `answer/${name} must be string {"type":"string"}`)

it('all that is said about a merge request is as GitLab describes it', async () => {
  const document = parse(await readFile(process.env.GITLAB_OPENAPI ?? '', 'utf8'), { maxAliasCount: -1 })
  const config = await configOf('git: { provider: GITLAB }')
  const host = createPullRequestHost(
    { config, fetch: (input, init) => globalThis.fetch(input, init) },
    'https://gitlab.com/Acme/Infra.git',
  )
  const answers = {
    'GET %2FInfra': {
      body: { id: 42, default_branch: 'main', merge_method: 'ff', squash_option: 'default_off', archived: false },
    },
    'GET /approvals': { body: { approved: false, approved_by: [], user_can_approve: true, user_has_approved: false } },
    'POST /merge_requests': { status: 201, body: made },
    'POST /approve': { status: 201, body: { id: 84, iid: 5, approved_by: [{ user: { id: 1 } }] } },
    'PUT /merge': { body: merged },
    'GET /5': { body: merged },
  }
  const exchanges = await recorded('https://gitlab.com', answers, async () => {
    await host.create({ title: 'Add a bucket', description: 'Why.', head: 'Platform/x', base: 'main' }, signal)
    await host.merge(5, { commit: COMMIT, confirm: async () => {}, signal })
  })
  const refused = { ...answers, 'PUT /merge': { status: 405, body: { message: '405 Method Not Allowed' } } }
  exchanges.push(
    ...(await recorded('https://gitlab.com', refused, () =>
      expect(host.merge(5, { commit: COMMIT, confirm: async () => {}, signal })).rejects.toMatchObject({ status: 404 }),
    )),
  )
  const waits = {
    ...answers,
    'GET /5': {
      body: { ...made, detailed_merge_status: 'ci_must_pass', draft: true, has_conflicts: true, sha: COMMIT },
    },
  }
  exchanges.push(...(await recorded('https://gitlab.com', waits, () => host.readiness(5, { commit: COMMIT, signal }))))
  expect(exchanges).toHaveLength(13)
  const check = createChecker(document)
  expect([...new Set(exchanges.flatMap((exchange) => check(exchange)))]).toEqual([...APPROVAL, ...BOOLEANS])
})
