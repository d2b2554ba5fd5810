import { delay, HttpResponse, http } from 'msw'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SeedPrompt } from '../../../src/prompts/parse-seed.ts'
import { createPromptRegistry, seedPrompts } from '../../../src/prompts/registry.ts'
import { createRegistryPrompts } from '../../../src/prompts/source.ts'
import { interceptRequests } from '../../helpers/intercept.ts'

const URL = 'http://registry.test:6006/'
const NAME = 'general-guidelines-engine'
const SHIPPED = new Map<string, SeedPrompt>([
  [NAME, { body: 'Write {{ plain }} code.\n', description: 'How to write code' }],
])

const server = interceptRequests()
let calls: string[]
beforeEach(() => {
  calls = []
  server.events.on('request:start', ({ request }) => {
    calls.push(`${request.method} ${request.url.replace(URL, '')}`)
  })
})
afterEach(() => {
  server.events.removeAllListeners()
})

const registryOf = (access: { url?: string; api_key?: string } = {}, options: { timeoutMs?: number } = {}) =>
  createPromptRegistry(
    { url: URL, api_key: '', ...access },
    { fetch: (...args) => fetch(...args), backoffMs: 1, ...options },
  )
const promptsOf = (options?: { timeoutMs?: number }) => createRegistryPrompts(registryOf({}, options), 'staging')

/** Makes a version in the form of the registry; `content` is of its first message. */
const version = (content: unknown, parts: Record<string, unknown> = {}) => ({
  data: {
    id: 'version-1',
    model_name: 'gpt-x',
    template: { type: 'chat', messages: [{ role: 'user', content }] },
    ...parts,
  },
})
const answers = (path: string, ...answers: (() => Response | Promise<Response>)[]) => {
  let number = 0
  server.use(http.get(`${URL}v1/${path}`, () => (answers[number++] ?? answers.at(-1) ?? HttpResponse.error)()))
}
const missing = () => HttpResponse.json({ detail: 'Not Found' }, { status: 404 })
const given = (body: object) => () => HttpResponse.json(body)

describe('fetching', () => {
  const path = `prompts/${NAME}/tags/staging`

  it.each([
    ['a plain string', 'text of the prompt'],
    ['parts', [{ type: 'text', text: 'text of the prompt' }]],
    [
      'parts of other kinds first',
      [{ type: 'tool_call', tool_call_id: 'x' }, { type: 'text', text: 'text of the prompt' }, 7],
    ],
  ])('reads content that is %s', async (_, content) => {
    answers(path, given(version(content)))
    expect(await promptsOf().body(NAME)).toBe('text of the prompt')
    expect(calls).toEqual([`GET v1/${path}`])
  })

  it('keeps nothing: a change holds at once', async () => {
    answers(path, given(version('before')), given(version('after')))
    const prompts = promptsOf()
    expect([await prompts.body(NAME), await prompts.body(NAME)]).toEqual(['before', 'after'])
  })

  it('sends the key as bearer token, and none without one', async () => {
    const seen: (string | null)[] = []
    server.use(
      http.get(`${URL}v1/${path}`, ({ request }) => {
        seen.push(request.headers.get('authorization'))
        return HttpResponse.json(version('x'))
      }),
    )
    await registryOf({ api_key: 'key-of-the-registry' }).findTagged(NAME, 'staging')
    await registryOf().findTagged(NAME, 'staging')
    expect(seen).toEqual(['Bearer key-of-the-registry', null])
  })

  it('finds the registry below a base without a slash at its end', async () => {
    answers(path, given(version('x')))
    expect(await registryOf({ url: URL.slice(0, -1) }).findTagged(NAME, 'staging')).toMatchObject({ text: 'x' })
  })

  it.each([404, 422])('says %i as a prompt that is not there, without asking again', async (status) => {
    answers(path, () => HttpResponse.json({}, { status }))
    await expect(promptsOf().body(NAME)).rejects.toMatchObject({ status: 404, message: `Prompt not found: ${NAME}` })
    expect(calls).toHaveLength(1)
  })

  it.each(['../../v1/traces', 'a/b', 'a%2Fb', '.', '', 'A B'])('never asks for the name %j', async (name) => {
    await expect(promptsOf().body(name)).rejects.toMatchObject({ status: 404, message: `Prompt not found: ${name}` })
    expect(calls).toEqual([])
  })

  it.each([
    ['connection that breaks', () => HttpResponse.error()],
    ['503', () => HttpResponse.json({}, { status: 503 })],
  ])('outlives three answers that are a %s', async (_, fault) => {
    answers(path, fault, fault, fault, given(version('there again')))
    expect(await promptsOf().body(NAME)).toBe('there again')
    expect(calls).toHaveLength(4)
  })

  it.each([
    ['broken connections', () => HttpResponse.error(), 'the prompt registry is unreachable', 4],
    ['503', () => HttpResponse.json({}, { status: 503 }), 'the prompt registry refused the call', 4],
    ['401', () => HttpResponse.json({}, { status: 401 }), 'the prompt registry refused the call', 1],
    ['HTML', () => HttpResponse.html('<p>sign in</p>'), 'the prompt registry refused the call', 1],
    ['another form', given({ id: 'x' }), 'the prompt registry refused the call', 1],
    ['no data', given({ data: null }), 'the prompt registry refused the call', 1],
    ['no message', given({ data: { id: 'x', template: { messages: [] } } }), 'it holds no text', 1],
    ['no template', given({ data: { id: 7, model_name: null, template: null } }), 'it holds no text', 1],
    ['a blank text', given(version('  \n')), 'it holds no text', 1],
    ['an unknown content', given(version({ text: 'x' })), 'it holds no text', 1],
  ])('fails with the name of the prompt on %s', async (_, fault, reason, asked) => {
    answers(path, fault)
    await expect(promptsOf().body(NAME)).rejects.toMatchObject({
      code: 'PromptRegistryFailed',
      message: `Prompt could not be fetched: ${NAME} (${reason}).`,
    })
    expect(calls).toHaveLength(asked)
  })

  it('gives up on a registry that hangs', async () => {
    answers(path, async () => {
      await delay('infinite')
      return HttpResponse.json(version('late'))
    })
    await expect(promptsOf({ timeoutMs: 20 }).body(NAME)).rejects.toThrow('the prompt registry is unreachable')
    expect(calls).toHaveLength(4)
  })

  it('stops with its signal', async () => {
    answers(path, async () => {
      await delay('infinite')
      return HttpResponse.json(version('late'))
    })
    const controller = new AbortController()
    const asked = new Promise((resolve) => server.events.on('request:start', resolve))
    const body = promptsOf().body(NAME, controller.signal)
    await asked
    controller.abort()
    await expect(body).rejects.toMatchObject({ kind: 'aborted' })
    expect(calls).toHaveLength(1)
  })
})

describe('seeding', () => {
  const latest = `prompts/${NAME}/latest`
  const seeded = (id = 'seed-1') => version('x', { id, model_name: 'platform-seed' })
  const posted: { path: string; body: unknown }[] = []
  beforeEach(() => {
    posted.length = 0
    const record = async ({ request }: { request: Request }) => {
      posted.push({ path: request.url.replace(URL, ''), body: await request.json() })
      return HttpResponse.json(version('x', { id: 'version 1/2' }))
    }
    server.use(
      http.post(`${URL}v1/prompts`, record),
      http.post(`${URL}v1/prompt_versions/:id/tags`, async (info) => {
        await record(info)
        return new HttpResponse(null, { status: 204 })
      }),
    )
  })
  const seed = () => seedPrompts(registryOf(), SHIPPED, 'development')
  const tagPaths = (id: string) =>
    ['development', 'staging', 'production'].map((name) => ({ path: `v1/prompt_versions/${id}/tags`, body: { name } }))

  it('creates a prompt that is missing and tags it for every environment', async () => {
    answers(latest, missing)
    expect(await seed()).toEqual({ created: 1, present: 0, repaired: 0 })
    expect(posted).toEqual([
      {
        path: 'v1/prompts',
        body: {
          prompt: { name: NAME, description: 'How to write code' },
          version: {
            description: 'How to write code',
            model_name: 'platform-seed',
            model_provider: 'OPENAI',
            template: {
              type: 'chat',
              messages: [{ role: 'user', content: [{ type: 'text', text: 'Write {{ plain }} code.\n' }] }],
            },
            template_type: 'CHAT',
            template_format: 'NONE',
            invocation_parameters: { type: 'openai', openai: {} },
          },
        },
      },
      ...tagPaths('version%201%2F2'),
    ])
  })

  it('touches nothing of a prompt that an operator wrote, whatever its tags', async () => {
    answers(latest, given(version('mine')))
    expect(await seed()).toEqual({ created: 0, present: 1, repaired: 0 })
    expect(calls).toEqual([`GET v1/${latest}`])
  })

  const TAGS = ['development', 'staging', 'production'] as const
  const older = given(version('mine', { id: 'older' }))
  it.each<[string, Partial<Record<(typeof TAGS)[number], () => Response>>, object, string[]]>([
    ['touches nothing where it has its tags', { development: given(seeded('seed-0')) }, { present: 1 }, []],
    ['tags it where it has none', {}, { repaired: 1 }, ['development', 'staging', 'production']],
    ['adds missing tags and moves none', { staging: given(seeded()) }, { repaired: 1 }, ['development', 'production']],
    ['leaves it alone where a tag names another version', { staging: older }, { present: 1 }, []],
  ])('a seeded prompt: %s', async (_, tags, counts, tagged) => {
    answers(latest, given(seeded()))
    for (const tag of TAGS) answers(`prompts/${NAME}/tags/${tag}`, tags[tag] ?? missing)
    expect(await seed()).toEqual({ created: 0, present: 0, repaired: 0, ...counts })
    expect(posted).toEqual(tagPaths('seed-1').filter(({ body }) => tagged.includes(body.name)))
  })

  const refused = (status: number) => () => HttpResponse.json({ detail: 'no' }, { status })

  it('ends with the name of a prompt that could not be created, and does not post it twice', async () => {
    answers(latest, missing)
    server.use(http.post(`${URL}v1/prompts`, refused(503)))
    await expect(seed()).rejects.toThrow(`Failed to create prompt '${NAME}': HTTP 503: {"detail":"no"}`)
    expect(calls.filter((call) => call === 'POST v1/prompts')).toHaveLength(1)
  })

  it('ends when the registry does not name the version that it created', async () => {
    answers(latest, missing)
    server.use(http.post(`${URL}v1/prompts`, () => HttpResponse.json({ id: 'x' })))
    await expect(seed()).rejects.toThrow(
      `Failed to create prompt '${NAME}': the answer is not in the form of a prompt version`,
    )
    expect(calls.some((call) => call.includes('prompt_versions'))).toBe(false)
  })

  it('ends with the name of a prompt that could not be tagged', async () => {
    answers(latest, missing)
    server.use(http.post(`${URL}v1/prompt_versions/:id/tags`, refused(403)))
    await expect(seed()).rejects.toThrow(`Failed to tag '${NAME}' as development: HTTP 403`)
  })

  it('ends with the name of a prompt that could not be looked up', async () => {
    answers(latest, refused(401))
    await expect(seed()).rejects.toThrow(`Failed to look up prompt '${NAME}': HTTP 401`)
    expect(posted).toEqual([])
  })

  it('begins nothing more after a failure', async () => {
    const many = new Map(
      Array.from({ length: 200 }, (_, index): [string, SeedPrompt] => [
        `aws-resources-r${index}`,
        { body: 'x', description: '' },
      ]),
    )
    server.use(http.get(`${URL}v1/prompts/:name/latest`, missing), http.post(`${URL}v1/prompts`, refused(500)))
    await expect(seedPrompts(registryOf(), many, 'development')).rejects.toThrow(
      /^Failed to create prompt 'aws-resources-r\d+': HTTP 500/,
    )
    expect(calls.filter((call) => call.startsWith('POST')).length).toBeLessThanOrEqual(8)
  })
})
