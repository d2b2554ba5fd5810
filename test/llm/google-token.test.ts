import { exportPKCS8, generateKeyPair, jwtVerify } from 'jose'
import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/base/log.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { modelConfig } from '../helpers/model-server.ts'

const outside = interceptRequests()

const keys = await generateKeyPair('RS256', { extractable: true })
const TOKEN_URI = 'https://oauth2.googleapis.com/token'
const METADATA = 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token'
const account = JSON.stringify({
  type: 'service_account',
  client_email: 'robot@acme.iam.gserviceaccount.com',
  private_key: await exportPKCS8(keys.privateKey),
  private_key_id: 'kid1',
  token_uri: TOKEN_URI,
})
const person = JSON.stringify({
  type: 'authorized_user',
  client_id: 'id',
  client_secret: 'very-secret',
  refresh_token: 'refresh',
})

function setup(variables: Record<string, string>, files: Record<string, string> = {}, google_credentials_file = '') {
  const used: (string | null)[] = []
  outside.use(
    http.post('https://europe-west1-aiplatform.googleapis.com/*', ({ request }) => {
      used.push(request.headers.get('authorization'))
      return HttpResponse.json({ choices: [{ finish_reason: 'stop', message: { content: 'ok' } }] })
    }),
  )
  const clock = { now: Date.now() }
  const config = modelConfig('', {
    model: 'vertex_ai/gemini-3.8-flash',
    google_credentials_file,
    credentials: { VERTEXAI_PROJECT: 'acme', VERTEXAI_LOCATION: 'europe-west1', ...variables },
  })
  const llm = createLlmClient(config, {
    fetch: (...args) => fetch(...args),
    log: silentLogger,
    backoffMs: 1,
    readFile: async (path) => files[path] ?? null,
    now: () => clock.now,
  })
  const ask = () => llm.complete({ role: 'main', messages: [{ role: 'user', content: 'hi' }] })
  return { ask, used, clock }
}

function tokens(answer: (form: URLSearchParams) => Response) {
  const forms: URLSearchParams[] = []
  outside.use(
    http.post(TOKEN_URI, async ({ request }) => {
      const form = new URLSearchParams(await request.text())
      forms.push(form)
      return answer(form)
    }),
  )
  return forms
}
let count = 0
const token = () => HttpResponse.json({ access_token: `token-${++count}`, expires_in: 3600, token_type: 'Bearer' })

describe('tokens of vertex_ai', () => {
  it.each<[string, Record<string, string>, Record<string, string>, string?]>([
    ['the text of a service account', { VERTEXAI_CREDENTIALS: account }, {}],
    ['its path', { VERTEXAI_CREDENTIALS: '/keys/a.json' }, { '/keys/a.json': account }],
    ['its path in the usual variable', { GOOGLE_APPLICATION_CREDENTIALS: '/keys/b.json' }, { '/keys/b.json': account }],
    ['its path in the usual place', {}, { '/home/me/adc.json': account }, '/home/me/adc.json'],
  ])('are made of %s, kept, and renewed before they lapse', async (_name, variables, files, place) => {
    const forms = tokens(token)
    const { ask, used, clock } = setup(variables, files, place)
    await Promise.all([ask(), ask()])
    await ask()
    expect(forms).toHaveLength(1)
    expect(new Set(used)).toEqual(new Set([`Bearer token-${count}`]))
    const { payload, protectedHeader } = await jwtVerify(forms[0]?.get('assertion') ?? '', keys.publicKey, {
      audience: TOKEN_URI,
    })
    expect(forms[0]?.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    expect(protectedHeader.kid).toBe('kid1')
    expect(payload).toMatchObject({
      iss: 'robot@acme.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    })
    clock.now += 56 * 60_000
    await ask()
    expect(forms).toHaveLength(2)
    expect(used.at(-1)).toBe(`Bearer token-${count}`)
  })

  it('are refreshed for a person', async () => {
    const forms = tokens(token)
    await setup({ GOOGLE_APPLICATION_CREDENTIALS: '/adc.json' }, { '/adc.json': person }).ask()
    expect(Object.fromEntries(forms[0] ?? [])).toEqual({
      grant_type: 'refresh_token',
      client_id: 'id',
      client_secret: 'very-secret',
      refresh_token: 'refresh',
    })
  })

  it('come from the metadata server when nothing is set up', async () => {
    const flavours: (string | null)[] = []
    outside.use(
      http.get(METADATA, ({ request }) => {
        flavours.push(request.headers.get('metadata-flavor'))
        return token()
      }),
    )
    const { ask, used } = setup({})
    await ask()
    expect(flavours).toEqual(['Google'])
    expect(used).toEqual([`Bearer token-${count}`])
  })

  it.each<[string, Record<string, string>, Record<string, string>, string]>([
    [
      'a file that is not there',
      { GOOGLE_APPLICATION_CREDENTIALS: '/gone.json' },
      {},
      'the file that GOOGLE_APPLICATION_CREDENTIALS names does not exist',
    ],
    [
      'no JSON',
      { VERTEXAI_CREDENTIALS: '/x' },
      { '/x': 'secret text' },
      'the file that VERTEXAI_CREDENTIALS names is not JSON',
    ],
    [
      'another type',
      { VERTEXAI_CREDENTIALS: '{"type":"external_account"}' },
      {},
      'VERTEXAI_CREDENTIALS is of a type that is not supported',
    ],
    [
      'a broken key',
      { VERTEXAI_CREDENTIALS: account.replace('BEGIN PRIVATE', 'BEGIN') },
      {},
      'the private key of the service account cannot be read',
    ],
  ])('cannot be had from %s, which is said at once', async (_name, variables, files, reason) => {
    const { ask, used } = setup(variables, files)
    await expect(ask()).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining(`Inference call to vertex_ai/gemini-3.8-flash failed: ${reason}`),
    })
    expect(used).toEqual([])
  })

  it('that are refused are not asked for again; the reason is shown, the secret not', async () => {
    const forms = tokens(() =>
      HttpResponse.json({ error: 'invalid_grant', error_description: 'very-secret expired' }, { status: 400 }),
    )
    const error = await setup({ VERTEXAI_CREDENTIALS: person }).ask().then(String, String)
    expect(error).toContain('the token service answers 400 (invalid_grant)')
    expect(error).not.toContain('very-secret')
    expect(forms).toHaveLength(1)
  })

  it('are asked for again when the service is down for a moment', async () => {
    let calls = 0
    tokens(() => (++calls < 3 ? new HttpResponse('x', { status: 503 }) : token()))
    await expect(setup({ VERTEXAI_CREDENTIALS: person }).ask()).resolves.toMatchObject({ text: 'ok' })
  })
})
