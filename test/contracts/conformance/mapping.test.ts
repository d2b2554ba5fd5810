import { describe, expect, it } from 'vitest'
import { parseCatalogue } from '../../../sidecars/mapping/catalogue.ts'
import { createMappingApp } from '../../../sidecars/mapping/main.ts'
import { isJsonObject } from '../../../src/base/json.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { answering, before, brokenOf, type Handler, judged, problem, promisesOf, TOKEN } from './fakes/serve.ts'

const app = createMappingApp({ token: TOKEN, catalogue: null, strict: false, log: silentLogger })
const good: Handler = (request) => app.fetch(request)
const right = { authorization: `Bearer ${TOKEN}` }
const crash = () => problem(500)
const letsIn = (accepts: (authorization: string | null) => boolean): Handler =>
  before(good, ({ pass, request }) => pass(accepts(request.headers.get('authorization')) ? { headers: right } : {}))
const identifierOf = (json: unknown) =>
  isJsonObject(json) && typeof json.identifier === 'string' ? json.identifier : ''

let last = ''
let dead = false

/** Faulty services by their fault and the promises that it breaks. */
const DEFECTS: Record<string, Handler> = {
  '500 for a broken encoding: resolve.malformed': before(good, ({ text, pass }) => (text === null ? crash() : pass())),
  'no challenge: token.missing, token.wrong, token.part, token.scheme, token.empty, resolve.answers': before(
    good,
    async ({ pass }) => {
      const response = await pass()
      response.headers.delete('www-authenticate')
      return response
    },
  ),
  'an undeclared key is ignored: resolve.undeclared': before(good, ({ json, pass }) => {
    if (!isJsonObject(json)) return pass()
    const { identifier, engine_provider } = json
    return pass({ body: { identifier, engine_provider } })
  }),
  '422 is plain text: resolve.answers': before(good, async ({ pass }) => {
    const response = await pass()
    return response.status === 422 ? new Response('Unprocessable', { status: 422 }) : response
  }),
  'the problem says another status: resolve.answers': answering(good, 422, (json) => ({ ...json, status: 400 })),
  'the identifier comes back trimmed: resolve.echo, resolve.parallel': answering(good, 200, (json) => ({
    ...json,
    identifier: String(json.identifier).trim() || 'x',
  })),
  'the identifier comes back normalised: resolve.echo, resolve.parallel': answering(good, 200, (json) => ({
    ...json,
    identifier: String(json.identifier).normalize('NFC'),
  })),
  'what is unknown is left out: resolve.nulls, resolve.answers': answering(
    good,
    200,
    ({ scope_id: _, ...json }) => json,
  ),
  'an undeclared key in the answer: resolve.answers': answering(good, 200, (json) => ({ ...json, note: 'hello' })),
  'a wrong token is accepted: token.wrong, token.part': letsIn(
    (value) => /^Bearer [^\s,"]{2,}$/.test(value ?? '') && !/null|undefined/.test(value ?? ''),
  ),
  'a part of the token is accepted: token.part': letsIn(
    (value) => value?.length === right.authorization.length - 1 && right.authorization.startsWith(value),
  ),
  'more than the token is accepted: token.part': letsIn(
    (value) => /^\S+ \S+$/.test(value ?? '') && (value ?? '').startsWith(right.authorization),
  ),
  'the token is compared without case: token.wrong': letsIn(
    (value) => value?.toLowerCase() === right.authorization.toLowerCase(),
  ),
  'the scheme is not looked at: token.scheme': letsIn(
    (value) => (value ?? '').split(' ').length === 2 && (value ?? '').split(' ').at(-1) === TOKEN,
  ),
  'a request without a token is accepted: token.missing, token.first': letsIn((value) => value === null),
  'an empty token is accepted: token.empty': letsIn((value) => value === '' || value === 'Bearer'),
  'the body is looked at before the token: token.first': before(good, ({ json, pass }) =>
    isJsonObject(json) && json.identifier !== undefined ? pass() : pass({ headers: right }),
  ),
  '/healthz needs the token: health.open, health.answers': before(good, ({ path, request, pass }) =>
    path === '/healthz' && request.headers.get('authorization') !== right.authorization
      ? problem(401, { headers: { 'www-authenticate': 'Bearer' } })
      : pass(),
  ),
  '/healthz answers text: health.alive, health.answers': before(good, ({ path, pass }) =>
    path === '/healthz' ? new Response('ok') : pass(),
  ),
  'one character too many is accepted: resolve.lengths': before(good, ({ json, pass }) =>
    pass(identifierOf(json).length === 1025 ? { body: { identifier: 'x' } } : {}),
  ),
  'the last character of the limit is refused: resolve.limits': before(good, ({ json, pass }) =>
    identifierOf(json).length === 1024 ? problem(422) : pass(),
  ),
  'lengths are counted in UTF-16 units: resolve.limits': before(good, ({ json, pass }) =>
    identifierOf(json).length > 1024 ? problem(422) : pass(),
  ),
  'an empty identifier is accepted: resolve.lengths': before(good, ({ json, pass }) =>
    pass(isJsonObject(json) && json.identifier === '' ? { body: { ...json, identifier: 'x' } } : {}),
  ),
  'the cloud is compared without case: resolve.values': before(good, ({ json, pass }) =>
    isJsonObject(json) && json.engine_provider === 'AWS' ? pass({ body: { ...json, engine_provider: 'aws' } }) : pass(),
  ),
  'a null is refused: resolve.accepts': before(good, ({ json, pass }) =>
    isJsonObject(json) && json.engine_provider === null ? problem(422) : pass(),
  ),
  'a number becomes a text: resolve.types': before(good, ({ json, pass }) =>
    pass(
      isJsonObject(json) && typeof json.identifier === 'number'
        ? { body: { ...json, identifier: String(json.identifier) } }
        : {},
    ),
  ),
  'a missing key gets a default: resolve.required': before(good, ({ json, pass }) =>
    pass(
      isJsonObject(json) && json.identifier === undefined && Object.keys(json).join() === 'engine_provider'
        ? { body: { ...json, identifier: 'default' } }
        : {},
    ),
  ),
  '500 for deep nesting: resolve.strange': before(good, ({ text, pass }) =>
    (text ?? '').includes('[[[[[[') ? crash() : pass(),
  ),
  '500 for a lone surrogate: resolve.strange': before(good, ({ json, pass }) =>
    identifierOf(json).isWellFormed() ? pass() : crash(),
  ),
  '500 without a content type: resolve.content-type': before(good, ({ request, pass }) =>
    request.method === 'POST' && request.headers.get('content-type') === null ? crash() : pass(),
  ),
  '500 for chunks: resolve.chunked': before(good, ({ request, text, pass }) =>
    request.headers.has('transfer-encoding') && text?.endsWith('}') ? crash() : pass(),
  ),
  '500 for a huge body: resolve.huge': before(good, ({ text, pass }) =>
    (text?.length ?? 0) > 1_000_000 ? crash() : pass(),
  ),
  'an unknown path is 500: transport.path': before(good, ({ path, pass }) =>
    path === '/v1/resolve' || path === '/healthz' ? pass() : crash(),
  ),
  'every method is taken: transport.method': before(good, ({ request, path, pass }) =>
    request.method === 'POST' || path !== '/v1/resolve' ? pass() : new Response('{}'),
  ),
  'the answer to another question: resolve.parallel': before(good, async ({ json, pass }) => {
    if (identifierOf(json) === '') return pass()
    const response = await pass()
    last = identifierOf(json)
    await new Promise((resolve) => setTimeout(resolve, 3))
    return response.status === 200
      ? Response.json({ ...((await response.json()) as object), identifier: last })
      : response
  }),
  'another answer each time: resolve.stable': answering(good, 200, (json) => ({
    ...json,
    repo_url: `https://git.example.com/${crypto.randomUUID()}`,
  })),
  'a cut connection ends the service: transport.cut': async (request) => {
    if (dead) return crash()
    try {
      return await before(good, ({ pass }) => pass())(request)
    } catch {
      dead = true
      return crash()
    }
  },
}

describe('the suite of the mapping contract', () => {
  it('finds nothing wrong with the bundled implementation', async () => {
    const outcome = await judged('mapping', good)
    expect(brokenOf(outcome)).toEqual([])
    expect(outcome).toMatchObject({ conformant: true, broken: 0, skipped: 0 })
  })

  it('finds nothing wrong with a catalogue that does not know the identifiers, and says what it could not see', async () => {
    const strict = createMappingApp({
      token: TOKEN,
      catalogue: async () => parseCatalogue('repositories: {}'),
      strict: true,
      log: silentLogger,
    })
    const outcome = await judged('mapping', (request) => strict.fetch(request))
    expect(brokenOf(outcome)).toEqual([])
    expect(outcome.promises.filter((each) => each.outcome === 'skipped').map(({ id }) => id)).toEqual([
      'resolve.echo',
      'resolve.nulls',
    ])
  })

  it.each(Object.entries(DEFECTS))('finds %s', async (defect, handler) => {
    const promises = promisesOf(defect)
    expect(
      brokenOf(await judged('mapping', handler, { only: [...promises, 'resolve.required', 'resolve.nulls'] })).sort(),
    ).toEqual([...promises].sort())
  })
})
