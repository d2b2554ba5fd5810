import { beforeAll, describe, expect, it } from 'vitest'
import { PlatformError } from '../../src/base/errors.ts'
import { answerOf, callOf, refusalOf } from '../helpers/core.ts'
import { startGitHostCore } from '../helpers/git-host-core.ts'
import { openSession, runRound } from '../helpers/sessions.ts'
import { startOnce } from '../helpers/start-once.ts'
import { scriptedLlm } from '../pipeline/steps/scripted-llm.ts'
import { pushBranch } from './outside.ts'

const UNREACHABLE = 'Repository is not reachable or access was denied.'
const core = startOnce(startGitHostCore)
let repository: string
let me: number
beforeAll(async () => {
  repository = await core.host.addRepository({
    owner: 'acme',
    name: 'infra',
    content: {
      files: {
        'main.tf': '',
        'live/network/main.tf':
          'terraform {\n  cloud {}\n  required_providers {\n    linode = {\n      source = "linode/linode"\n    }\n  }\n}',
        'modules/x/main.tf': '',
        'app/Pulumi.yaml': '',
      },
    },
  })
  me = (await (await core.call('GET', '/api/v1/users/me')).json()).id
})

describe('POST /api/v1/repository/parse', () => {
  const parse = (json: unknown) => core.call('POST', '/api/v1/repository/parse', { json })

  it('answers the roots by names and by contents, providers of the code, and other tools', async () => {
    expect(await answerOf(parse({ repo_uri: repository, other: 1 }))).toEqual([
      200,
      {
        roots: ['.', 'live/network'],
        root_modules: [{ path: 'live/network', kind: 'root' }],
        unread_files: 0,
        providers: [{ source: 'linode/linode', cloud: null }],
        tools: ['pulumi'],
      },
    ])
  })

  it('answers 400 with the fixed text when the remote cannot be listed', async () => {
    for (const repo_uri of [`${core.host.url}/acme/missing.git`, 'https://127.0.0.1:1/x/y']) {
      expect(await refusalOf(parse({ repo_uri }))).toEqual([400, UNREACHABLE])
    }
  })

  it.each([
    ['nothing', {}, 'missing'],
    ['null', { repo_uri: null }, 'string_type'],
    ['http', { repo_uri: 'http://h/x' }, 'value_error'],
    ['ssh', { repo_uri: 'git@h:x/y.git' }, 'value_error'],
    ['a file', { repo_uri: 'file:///x' }, 'value_error'],
    ['a path', { repo_uri: '../x' }, 'value_error'],
    ['a secret', { repo_uri: 'https://u:secret@h/x' }, 'value_error'],
    ['an empty secret', { repo_uri: 'https://u:@h/x' }, 'value_error'],
  ])('refuses %s', async (_, body, type) => {
    const answer = await parse(body)
    const text = await answer.text()
    expect([answer.status, JSON.parse(text).detail]).toMatchObject([422, [{ type, loc: ['body', 'repo_uri'] }]])
    expect(text).not.toContain('secret@')
  })
})

describe('PUT /api/v1/repository/pr', () => {
  const put = (json: unknown) => core.call('PUT', '/api/v1/repository/pr', { json })
  /** Creates a session that has run, with a branch at the host. */
  const finished = async (repo_uri: string, blocked = false) => {
    const uuid = await openSession(core.context, me, { repo_uri })
    const history = [{ user: 'Add a bucket', assistant: 'Added.' }]
    await (await runRound(core.context, uuid)).finish('completed', 'done', history)
    if (blocked) await core.database.sql`UPDATE sessions SET is_blocked = true WHERE uuid = ${uuid}`
    return uuid
  }

  const pushSessionBranch = async (uuid: string) => {
    const session = await (await core.call('GET', `/api/v1/sessions?id=${uuid}`)).json()
    await pushBranch(core.host.pathOf(repository), session.workspace.branch)
  }

  it('answers the pull request that is open at the host, locked or not', async () => {
    const uuid = await finished(repository, true)
    await pushSessionBranch(uuid)
    const answer = await put({ session_id: uuid, other: 1 })
    expect(answer.status).toBe(201)
    const created = await answer.json()
    expect(created).toEqual({ id: expect.any(Number), url: expect.stringContaining(core.host.url), status: 'open' })
    const session = await (await core.call('GET', `/api/v1/sessions?id=${uuid}`)).json()
    expect(session.rounds[0].pull_requests).toEqual([{ provider: 'GITHUB', url: created.url, number: created.id }])
    expect(core.model.requests.at(-1)?.body.model).toBe('small-model')
  })

  it.each([
    [401, 502],
    [429, 502],
    [500, 502],
    [504, 504],
  ])('answers %i of the model as %i, never as the end of the caller’s own session', async (status, expected) => {
    const message = 'Inference call to openai/small-model failed: no'
    const llm = scriptedLlm({
      generate_pull_request: { error: new PlatformError('InferenceCallAPIError', status, message) },
    })
    const app = await core.another({ context: { llm } })
    const uuid = await finished(repository)
    await pushSessionBranch(uuid)
    const json = { session_id: uuid }
    const answer = await callOf(app)('PUT', '/api/v1/repository/pr', { json })
    expect([answer.status, await answer.json()]).toEqual([expected, { detail: message }])
    expect(answer.headers.get('www-authenticate')).toBeNull()
  })

  it('refuses a repository of another host', async () => {
    expect(await refusalOf(put({ session_id: await finished('https://git.example.com/acme/infra.git') }))).toEqual([
      400,
      "Malformed repository URL 'git.example.com/acme/infra'",
    ])
  })
})
