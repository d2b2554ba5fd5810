import { delay, HttpResponse, http } from 'msw'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { GitConfig } from '../../config/types.ts'
import type { CoreContext } from '../../routes/env.ts'
import { unavailable } from '../../src/base/errors.ts'
import type { InferenceRequest, LlmClient } from '../../src/llm/inference.ts'
import { createPullRequest } from '../../src/pull-requests/create.ts'
import { storeReport } from '../../src/reports/artifacts.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { emptyResult, type RoundResult } from '../../src/rounds/round-result.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { createTestCore, type TestCore } from '../helpers/core.ts'
import { listedRepository } from '../helpers/git-remote.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { changeListOf, generateReport } from './evidence/fixtures.ts'
import { controlTotal, refusalOf, shortenTimers } from './support.ts'

const REPOSITORY = 'https://github.com/Acme/Infra'
const PULLS = 'https://api.github.com/repos/Acme/Infra/pulls'
const server = interceptRequests()
let core: TestCore
let user_id: number
let asked: InferenceRequest[] = []
let title = 'Add a bucket'

const llm: LlmClient = {
  search: async () => null,
  complete: async (request) => {
    asked.push(request)
    return {
      model: 'test/small',
      text: '',
      tool_calls: [
        { id: '1', name: 'generate_pull_request', arguments: JSON.stringify({ title, description: 'Why and what.' }) },
      ],
      finish: 'tool_use',
      finish_raw: 'tool_calls',
      usage: { input_tokens: 1, cached_tokens: 0, output_tokens: 1 },
    }
  },
}

beforeAll(async () => {
  core = await createTestCore({ context: { llm } })
  user_id = (await createUser(core.context.sql, 'owner')).id
})
afterEach(() => {
  asked = []
  title = 'Add a bucket'
})
afterAll(() => core.close())

const withGit = (changes: Partial<GitConfig>): CoreContext => ({
  ...core.context,
  config: { ...core.context.config, git: { ...core.context.config.git, ...changes } },
})

async function finishedSession(repo_uri = REPOSITORY): Promise<string> {
  const uuid = await openSession(core.context, user_id, { repo_uri })
  const run = await runRound(core.context, uuid)
  await run.finish('completed', 'GENERATE', [{ user: 'Add a bucket', assistant: 'Added aws_s3_bucket.logs' }])
  return uuid
}

/** Returns the pull requests that are recorded with the latest round. */
const recordedOf = async (uuid: string) =>
  (await loadAggregate(core.context, uuid, { includeHistory: false }))?.rounds.at(-1)?.pull_requests

/** Handles the creation call. Every other call is an error of the test. */
function provider(answer: () => Response | Promise<Response> = () => created(7)) {
  const calls: { body: Record<string, unknown> }[] = []
  server.use(
    listedRepository(REPOSITORY, { sql: () => core.context.sql }),
    http.post(PULLS, async ({ request }) => {
      calls.push({ body: (await request.json()) as Record<string, unknown> })
      return answer()
    }),
  )
  return calls
}

const created = (number: number) =>
  HttpResponse.json(
    { number, html_url: `https://github.com/Acme/Infra/pull/${number}`, state: 'open', id: 999 },
    { status: 201 },
  )

describe('the model calls of a pull request', () => {
  it('count for the day of its owner, and code writes the text when the budget of that is used up', async () => {
    const calls = provider()
    const { id } = await createUser(core.context.sql, 'spender')
    const finished = async () => {
      const uuid = await openSession(core.context, id, { repo_uri: REPOSITORY })
      await (await runRound(core.context, uuid)).finish('completed', 'GENERATE', [])
      return uuid
    }
    const { config } = core.context
    const context = {
      ...core.context,
      config: { ...config, llm: { ...config.llm, budget: { user_day: { tokens: 2 } } } },
    }
    await createPullRequest(context, await finished())
    const [spent] = await core.context.sql`
      SELECT input_tokens, output_tokens, unpriced_calls FROM user_spend WHERE user_id = ${id}`
    expect(spent).toEqual({ input_tokens: 1, output_tokens: 1, unpriced_calls: 1 })
    await createPullRequest(context, await finished())
    expect(asked).toHaveLength(1)
    expect(calls.map(({ body }) => String(body.body).includes('No model wrote this summary'))).toEqual([false, true])
  })
})

describe('a new pull request', () => {
  it('goes from the session branch to the default branch with the words of the small model', async () => {
    const calls = provider()
    const uuid = await finishedSession()
    expect(await createPullRequest(core.context, uuid)).toEqual({
      id: 7,
      url: 'https://github.com/Acme/Infra/pull/7',
      status: 'open',
    })
    const branch = (await loadAggregate(core.context, uuid, { includeHistory: false }))?.workspace.branch
    expect(calls[0]?.body).toEqual({
      title: 'Add a bucket',
      body: expect.stringMatching(/^Why and what\.\n\n## /),
      head: branch,
      base: 'main',
    })
    expect(calls[0]?.body.body).toContain(`Session \`${uuid}\`, branch \`${branch}\`.`)
    expect(asked[0]?.role).toBe('small')
    const conversation = JSON.stringify(asked[0]?.messages)
    expect(conversation).toContain('Added aws_s3_bucket.logs')
    expect(conversation).toMatch(/<<<DATA earlier request (\w+)\\nAdd a bucket\\n\1 DATA>>>/)
  })

  it.each([
    ['has ended', true, 'Nothing was changed in session @, so there is nothing to open a pull request for.'],
    ['runs', false, 'Nothing was changed in session @ yet; open the pull request when its round has completed.'],
  ])('is refused while the branch holds no change and the round %s, without a call of a model', async (_, ended, text) => {
    const calls = provider()
    server.use(listedRepository(REPOSITORY))
    const uuid = ended ? await finishedSession() : await openSession(core.context, user_id, { repo_uri: REPOSITORY })
    expect(await refusalOf(createPullRequest(core.context, uuid))).toMatchObject({
      status: 409,
      message: text.replace('@', uuid),
    })
    expect([calls, asked]).toEqual([[], []])
  })

  it('has a title of one line and at most 256 characters', async () => {
    const calls = provider()
    title = `${'long '.repeat(100)}\nend`
    await createPullRequest(core.context, await finishedSession())
    const sent = String(calls[0]?.body.title)
    expect(sent.length).toBeLessThanOrEqual(256)
    expect(sent).toMatch(/^long long/)
    expect(sent).not.toContain('\n')
  })

  it.each([
    ['GITHUB', REPOSITORY, PULLS, 'body', 65_536, REPOSITORY],
    [
      'GITLAB',
      'https://gitlab.com/Acme/Infra.git',
      'https://gitlab.com/api/v4/projects/Acme%2FInfra/merge_requests',
      'description',
      1_048_576,
      'https://gitlab.com/Acme/Infra.git',
    ],
    [
      'AZURE_DEVOPS',
      'https://dev.azure.com/acme/Core/_git/Infra',
      'https://dev.azure.com/acme/Core/_apis/git/repositories/Infra/pullrequests',
      'description',
      4_000,
      'https://dev.azure.com/acme/Core/_git/Infra/pullrequest/9',
    ],
  ] as const)('at %s carries the evidence as far as the host takes it, and is recorded', async (name, uri, api, field, limit, page) => {
    const stored = new Map<string, string>()
    const storage = {
      ...core.context.storage,
      put: async (key: string, body: string | Uint8Array) => stored.set(key, String(body)).size,
      get: async (key: string) => new TextEncoder().encode(stored.get(key)),
    }
    const uuid = await openSession(core.context, user_id, { repo_uri: uri })
    const run = await runRound(core.context, uuid)
    const detailed_changes = Array.from({ length: 200 }, (_, index) => ({
      name: `a.b[${index}]`,
      action: 'delete',
      summary: 'word '.repeat(50),
    }))
    const { document } = generateReport({ summary: { delete: 200 }, detailed_changes })
    if (document) await storeReport({ ...core.context, storage }, run.round, { type: 'generate', document })
    await run.finish('completed', 'GENERATE', [{ user: 'Add a bucket', assistant: 'Added.' }])
    const sent: string[] = []
    server.use(
      listedRepository(uri, { sql: () => core.context.sql }),
      http.post(api, async ({ request }) => {
        const body = (await request.json()) as Record<string, string>
        sent.push(body[field] ?? '')
        const answer = {
          number: 9,
          html_url: uri,
          iid: 9,
          web_url: uri,
          state: 'open',
          pullRequestId: 9,
          status: 'active',
        }
        return HttpResponse.json(answer, { status: 201 })
      }),
    )
    const context = withGit({ provider: name, host: new URL(uri).host })
    const http_config = { ...context.config.http, session_url: 'https://platform.example.com/sessions/{session_id}' }
    await createPullRequest({ ...context, storage, config: { ...context.config, http: http_config } }, uuid)
    expect(await recordedOf(uuid)).toEqual([{ provider: name, number: 9, url: page }])
    expect(sent[0]?.length).toBeLessThanOrEqual(limit)
    expect(sent[0]).toContain('**0 to create, 0 to update, 200 to delete, 0 to recreate**')
    expect(sent[0]).toContain('| delete | `a.b[0]` |')
    expect(sent[0]).toContain(`[Session ${uuid}](https://platform.example.com/sessions/${uuid})`)
  })

  it('is opened also when the object store is gone, and says what is missing', async () => {
    const calls = provider()
    const uuid = await openSession(core.context, user_id, { repo_uri: REPOSITORY })
    const run = await runRound(core.context, uuid)
    const { document } = generateReport()
    if (document) await storeReport(core.context, run.round, { type: 'generate', document })
    await run.finish('completed')
    const storage = {
      ...core.context.storage,
      get: async () => Promise.reject(unavailable('The object store cannot be reached.')),
    }
    expect(await createPullRequest({ ...core.context, storage }, uuid)).toMatchObject({ id: 7 })
    expect(calls[0]?.body.body).toContain('Not available: the report of round 1 could not be read.')
  })

  it('refers to nothing and shows no markup that the model was talked into', async () => {
    const calls = provider()
    title = 'Fixes #1 for @octocat'
    await createPullRequest(core.context, await finishedSession())
    expect(calls[0]?.body.title).toBe('Fixes #\u200b1 for @\u200boctocat')
    title = '\u200b'
    await createPullRequest(core.context, await finishedSession())
    expect(calls[1]?.body.title).toBe('Platform changes')
  })

  it('tells that the session is locked', async () => {
    const calls = provider()
    const uuid = await finishedSession()
    await core.context.sql`UPDATE sessions SET is_blocked = true WHERE uuid = ${uuid}`
    await createPullRequest(core.context, uuid)
    expect(calls[0]?.body.body).toMatch(
      /^> \*\*This session is locked: merging and applying are blocked\.\*\*\n\nWhy and what\./,
    )
  })
})

describe('no pull request', () => {
  it('for an unknown session', async () => {
    const uuid = crypto.randomUUID()
    const refused = await refusalOf(createPullRequest(core.context, uuid))
    expect(refused).toEqual({ status: 404, message: `Session ${uuid} not found.` })
  })

  it('for a repository that is not at the configured host; the model is not asked', async () => {
    const uuid = await finishedSession('https://token@git.corp/Acme/Infra')
    const message = "Malformed repository URL 'git.corp/Acme/Infra'"
    expect(await refusalOf(createPullRequest(core.context, uuid))).toEqual({ status: 400, message })
    expect(asked).toEqual([])
  })

  it.each([[{ user: '' }], [{ token: '' }]])('without credentials, and no call at all: %o', async (changes) => {
    const uuid = await finishedSession()
    await expect(createPullRequest(withGit(changes), uuid)).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('credentials are not configured'),
    })
    expect(asked).toEqual([])
  })

  it('when the remote cannot be listed; the model is not asked', async () => {
    server.use(http.get(`${REPOSITORY}/info/refs`, () => new HttpResponse(null, { status: 500 })))
    await expect(createPullRequest(core.context, await finishedSession())).rejects.toMatchObject({ status: 502 })
    expect(asked).toEqual([])
  })
})

describe('a provider that refuses', () => {
  it('is answered with its words, and nothing is recorded', async () => {
    const body = { message: 'Validation Failed', errors: [{ message: 'A pull request already exists' }] }
    provider(() => HttpResponse.json(body, { status: 422 }))
    const uuid = await finishedSession()
    const refused = await refusalOf(createPullRequest(core.context, uuid))
    expect(refused).toEqual({ status: 422, message: JSON.stringify(body) })
    expect(await recordedOf(uuid)).toEqual([])
  })

  it('is not waited for when the caller goes away', async () => {
    const controller = new AbortController()
    provider(async () => {
      controller.abort(new Error('caller is gone'))
      await delay('infinite')
      return created(1)
    })
    await expect(createPullRequest(core.context, await finishedSession(), controller.signal)).rejects.toThrow(
      'caller is gone',
    )
  })
})

describe('a model', () => {
  const RESULT: RoundResult = {
    ...emptyResult(),
    summary: 'Added aws_s3_bucket.logs for @octocat.',
    assumptions: ['One region is enough.'],
    changes: changeListOf([{ address: 'aws_s3_bucket.logs', action: 'create' }]),
  }

  /** Creates a session whose round left a report and a result. */
  async function sessionWithResult(): Promise<string> {
    const uuid = await openSession(core.context, user_id, { repo_uri: REPOSITORY })
    const { round } = await runRound(core.context, uuid)
    const { document } = generateReport()
    if (document) await storeReport(core.context, round, { type: 'generate', document })
    const history = [{ user: 'Add a bucket', assistant: RESULT.summary }]
    const end = { status: 'completed', message: 'GENERATE', commit: null, usage: null } as const
    await finishRound(core.context, round, { ...end, history, result: RESULT })
    return uuid
  }
  const withModel = (complete: LlmClient['complete']): CoreContext => ({ ...core.context, llm: { ...llm, complete } })
  /** Stops the clock before the model's step, so that the model has its whole budget. */
  const standStill = () => vi.spyOn(performance, 'now').mockReturnValue(0)
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  it('sees what code recorded of the round', async () => {
    provider()
    await createPullRequest(core.context, await sessionWithResult())
    const query = asked[0]?.messages.at(-1)?.content
    expect(query).toMatch(/What its rounds did, on record:\n<<<DATA rounds \w+\nRound 1, generate\nPlan: 1 to create, /)
    expect(query).toContain('- create aws_s3_bucket.logs')
    expect(query).not.toContain('Built:')
  })

  it.each([
    ['never answers', () => new Promise<never>(() => {})],
    [
      'ends only when it is told to',
      ({ signal }: InferenceRequest) =>
        new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    ],
  ])('that %s is waited for 20 seconds; then code writes the whole text', async (_, complete) => {
    const calls = provider()
    const uuid = await sessionWithResult()
    standStill()
    const budget = shortenTimers(20_000)
    expect(await createPullRequest(withModel(complete), uuid)).toMatchObject({ id: 7 })
    expect(budget.count).toBe(1)
    const { title: written, body } = calls[0]?.body ?? {}
    expect(written).toBe('Add a bucket (1 change)')
    expect(body).toMatch(/^No model wrote this summary; code put it together from what the session stored\./)
    expect(body).toContain('Requested:\n- Add a bucket')
    expect(body).toContain('The reviewed plan: 1 to create,')
    expect(body).toContain('Added aws_s3_bucket.logs for @\u200boctocat.')
    expect(body).toContain('- One region is enough.')
    expect(body).toContain('| create | `aws_s3_bucket.logs` |')
    expect(core.log).toContainEqual(
      expect.objectContaining({ session_id: uuid, reason: 'the model did not answer in time' }),
    )
  })

  it('that answers nothing usable leaves the text to code', async () => {
    const calls = provider()
    const complete: LlmClient['complete'] = async (request) => ({
      ...(await llm.complete(request)),
      tool_calls: [],
      finish: 'content_filter',
      finish_raw: 'refused',
    })
    await createPullRequest(withModel(complete), await sessionWithResult())
    expect(calls[0]?.body.body).toMatch(/^No model wrote this summary/)
  })

  it('gets what is left when the repository was slow', async () => {
    provider()
    const uuid = await sessionWithResult()
    const now = vi.spyOn(performance, 'now').mockReturnValue(0)
    server.use(
      http.get(`${REPOSITORY}/info/refs`, () => {
        now.mockReturnValue(19_000)
      }),
    )
    const rest = shortenTimers(5_000)
    await createPullRequest(
      withModel(() => new Promise<never>(() => {})),
      uuid,
    )
    expect(rest.count).toBe(1)
  })
})

describe('45 seconds in all', () => {
  afterEach(() => void vi.unstubAllGlobals())
  const late = { status: 504, message: 'PR creation timeout' }

  it('end a call whose git host hangs', async () => {
    const uuid = await finishedSession()
    const end = controlTotal()
    provider(async () => {
      await end()
      await delay('infinite')
      return created(1)
    })
    await expect(createPullRequest(core.context, uuid)).rejects.toMatchObject(late)
  })

  it('end a call whose repository hangs', async () => {
    const uuid = await finishedSession()
    const end = controlTotal()
    server.use(
      http.get(`${REPOSITORY}/info/refs`, async () => {
        await end()
        await delay('infinite')
      }),
    )
    await expect(createPullRequest(core.context, uuid)).rejects.toMatchObject(late)
    expect(asked).toEqual([])
  })

  it('end a call that waits for something that cannot be stopped', async () => {
    provider()
    const uuid = await finishedSession()
    const end = controlTotal()
    const complete: LlmClient['complete'] = async () => {
      await end()
      return await new Promise<never>(() => {})
    }
    await expect(createPullRequest({ ...core.context, llm: { ...llm, complete } }, uuid)).rejects.toMatchObject(late)
  })
})
