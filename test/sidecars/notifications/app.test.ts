import { createHmac } from 'node:crypto'
import { HttpResponse, http } from 'msw'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chatChannel, webhookChannel } from '../../../sidecars/notifications/channels.ts'
import { audienceText, type Channel, createDeliveries, titleOf } from '../../../sidecars/notifications/deliveries.ts'
import { createNotificationsApp, readSettings } from '../../../sidecars/notifications/main.ts'
import { createLogger } from '../../../src/base/log.ts'
import { interceptRequests } from '../../helpers/intercept.ts'
import { type Contract, readContract } from '../contract.ts'

const HOOK = 'https://chat.example.com/hooks/T000/B000/very-secret'
const NOTE = { kind: 'system.error', severity: 'error', subject: 'A round failed', body: 'The state is **locked**.' }

// biome-ignore lint/suspicious/noExplicitAny: payloads are looked at by their keys
type Json = any
let posted: Json[] = []
let log_lines: string[] = []
let answer: () => Response = () => new HttpResponse('ok')
const server = interceptRequests()
let contract: Contract
beforeAll(async () => {
  server.use(
    http.post(HOOK, async ({ request }) => {
      posted.push(await request.json())
      return answer()
    }),
  )
  contract = await readContract('notifications')
})
afterEach(() => {
  posted = []
  log_lines = []
  answer = () => new HttpResponse('ok')
})

const app = (options: { token?: string; channel?: Channel; now?: () => number } = {}) =>
  createNotificationsApp({
    token: options.token ?? '',
    deliveries: createDeliveries(options.channel ?? chatChannel(HOOK, fetch), options.now && { now: options.now }),
    log: createLogger({ write: (line) => log_lines.push(line) }),
  })

const notify = (body: unknown, { service = app(), headers = {} as Record<string, string> } = {}) =>
  contract.ask(service, 'POST', '/v1/notify', { body, headers })
const sent = async (more: Record<string, unknown>) => {
  expect((await notify({ ...NOTE, ...more })).status).toBe(202)
  return posted[0].attachments as Json[]
}

it('has the routes of its contract, and takes its examples', async () => {
  expect(contract.operations).toEqual(['GET /healthz', 'POST /v1/notify'])
  for (const example of contract.examplesOf('POST', '/v1/notify')) expect((await notify(example)).status).toBe(202)
})

describe('bodies', () => {
  it.each([
    [{ ...NOTE, subject: 'two\u2028lines' }, 422],
    [{ ...NOTE, links: [{ label: 'Open', url: 'javascript:alert(1)' }] }, 422],
    [{ ...NOTE, context: { deep: { a: [1, null, { b: 'c' }] }, n: 1e300, t: true } }, 202],
    ['{', 422],
    ['', 422],
    [new Uint8Array([0x22, 0xff, 0x22]), 422],
  ])('answers %j as documented', async (body, status) => {
    expect((await notify(body)).status).toBe(status)
  })

  it('are JSON by their content type', async () => {
    expect((await notify(NOTE, { headers: { 'content-type': 'text/plain' } })).status).toBe(422)
  })
})

it('the liveness says nothing about the channel', async () => {
  const service = app({ token: 'the-token', channel: { deliver: () => Promise.reject(new Error('down')) } })
  expect((await contract.ask(service, 'GET', '/healthz')).body).toEqual({ status: 'ok' })
})

describe('chat', () => {
  it('gets one attachment in the colour of the severity', async () => {
    const colours = []
    for (const severity of ['info', 'warning', 'error', 'critical']) {
      await notify({ ...NOTE, severity })
      colours.push(posted.at(-1).attachments[0].color)
    }
    expect(colours).toEqual(['#36a64f', '#f2c744', '#d93f3f', '#7a0b0b'])
    expect(posted[2]).toEqual({
      attachments: [
        {
          fallback: NOTE.subject,
          title: NOTE.subject,
          color: '#d93f3f',
          text: NOTE.body,
          fields: [
            { title: 'Kind', value: 'system.error', short: true },
            { title: 'Severity', value: 'error', short: true },
          ],
        },
      ],
    })
  })

  it('gets a button for each link, five an attachment', async () => {
    const links = Array.from({ length: 12 }, (_, index) => ({ label: `L${index}`, url: `https://x.example/${index}` }))
    const attachments = await sent({ links })
    expect(attachments.map(({ actions }) => actions.length)).toEqual([5, 5, 2])
    expect(attachments[1]).toEqual({
      fallback: NOTE.subject,
      color: '#d93f3f',
      actions: links.slice(5, 10).map(({ label, url }) => ({ type: 'button', text: label, url })),
    })
  })

  it('gets the context as fields', async () => {
    const [{ fields }] = await sent({
      audience: ['a@example.com', 'b@example.com'],
      context: {
        session_id: 's1',
        firstQuery: ' text ',
        empty: '',
        blank: '  ',
        nothing: null,
        flag: false,
        count: 3,
        nested: { ä: [1] },
        long: 'x'.repeat(41),
      },
    })
    expect(fields.slice(2)).toEqual([
      { title: 'Audience', value: 'a@example.com, b@example.com', short: false },
      { title: 'Session id', value: 's1', short: true },
      { title: 'First query', value: 'text', short: true },
      { title: 'Flag', value: 'no', short: true },
      { title: 'Count', value: '3', short: true },
      { title: 'Nested', value: '{"ä":[1]}', short: true },
      { title: 'Long', value: 'x'.repeat(41), short: false },
    ])
  })

  it('gets long values cut within the limit', async () => {
    const audience = Array.from({ length: 256 }, (_, index) => `person.number.${index}@example.com`)
    const [{ fields }] = await sent({
      audience,
      context: { long: 'x'.repeat(5000), emoji: '😀'.repeat(600), escaped: '&'.repeat(900) },
    })
    for (const { value } of fields) expect(value.length).toBeLessThanOrEqual(1000)
    const [, , recipients, long, emoji, escaped] = fields.map(({ value }: Json) => value)
    expect(long).toBe(`${'x'.repeat(999)}…`)
    expect(emoji.isWellFormed()).toBe(true)
    expect(escaped.replaceAll('&amp;', '')).toBe('…')
    const [, kept, hidden] = /^(.*) \+(\d+) more$/.exec(recipients) ?? []
    expect(kept?.split(', ')).toEqual(audience.slice(0, 256 - Number(hidden)))
  })

  it('takes no commands from the text', async () => {
    const [{ title, text, fields }] = await sent({
      subject: '<!channel> urgent',
      body: '<https://evil.example.com|Open the session> & **bold**',
      context: { note: '<@U1>' },
    })
    expect(title).toBe('&lt;!channel&gt; urgent')
    expect(text).toBe('&lt;https://evil.example.com|Open the session&gt; &amp; **bold**')
    expect(fields[2].value).toBe('&lt;@U1&gt;')
  })

  it.each([
    ['a refusal', () => new HttpResponse(`no ${HOOK}`, { status: 404 })],
    ['a fault', () => new HttpResponse('x', { status: 500 })],
    ['a redirect', () => HttpResponse.redirect('https://elsewhere.example.com')],
    ['a cut connection', () => HttpResponse.error()],
  ])('answers %s with 502 and keeps the address to itself', async (_, response) => {
    answer = response
    const refused = await notify(NOTE)
    expect(refused.body).toEqual({ type: 'about:blank', title: 'Downstream channel error', status: 502 })
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    for (const text of [JSON.stringify(refused.body), ...log_lines]) {
      expect(text).not.toContain('chat.example.com')
      expect(text).not.toContain('very-secret')
    }
    expect(log_lines.join()).toContain('notification not delivered')
  })
})

describe('repetition', () => {
  it('is delivered once within the window and answers the same id', async () => {
    let time = 0
    const service = app({ now: () => time })
    const [first, second] = await Promise.all([notify(NOTE, { service }), notify(NOTE, { service })])
    expect(second.body.delivery_id).toBe(first.body.delivery_id)
    expect(posted).toHaveLength(1)
    time = 29_999
    await notify(NOTE, { service })
    expect(posted).toHaveLength(1)
    time = 30_001
    const later = await notify(NOTE, { service })
    expect(posted).toHaveLength(2)
    expect(later.body.delivery_id).not.toBe(first.body.delivery_id)
  })

  it('swallows nothing that differs', async () => {
    const service = app()
    for (const more of [{}, { severity: 'info' }, { context: { a: 1 } }, { audience: ['x'] }])
      await notify({ ...NOTE, ...more }, { service })
    expect(posted).toHaveLength(4)
  })

  it('tries again what failed', async () => {
    const service = app()
    answer = () => new HttpResponse(null, { status: 500 })
    expect((await notify(NOTE, { service })).status).toBe(502)
    answer = () => new HttpResponse('ok')
    expect((await notify(NOTE, { service })).status).toBe(202)
  })
})

it('signs what goes to a webhook', async () => {
  const seen: Request[] = []
  server.use(
    http.post('https://hooks.example.com/in', ({ request }) => {
      seen.push(request.clone())
      return new HttpResponse(null, { status: 204 })
    }),
  )
  const secret = 'a-shared-secret-of-both'
  const channel = webhookChannel('https://hooks.example.com/in', secret, fetch, () => new Date(1_700_000_000_500))
  const { body } = await notify({ ...NOTE, audience: ['ops'] }, { service: app({ channel }) })
  const [request] = seen
  const text = (await request?.text()) ?? ''
  const { delivery_id } = body
  expect(JSON.parse(text)).toEqual({ delivery_id, ...NOTE, audience: ['ops'], links: [], context: {} })
  expect(request?.headers.get('webhook-id')).toBe(delivery_id)
  expect(request?.headers.get('webhook-timestamp')).toBe('1700000000')
  const expected = createHmac('sha256', secret).update(`${delivery_id}.1700000000.${text}`).digest('base64')
  expect(request?.headers.get('webhook-signature')).toBe(`v1,${expected}`)
})

describe('words', () => {
  it.each([
    ['session_id', 'Session id'],
    ['firstQuery', 'First query'],
    ['some-key', 'Some key'],
    ['URL', 'Url'],
    ['', ''],
  ])('title of %s is %s', (key, title) => expect(titleOf(key)).toBe(title))
  it('an audience whose first recipient is too long is only counted', () => {
    expect(audienceText(['x'.repeat(2000), 'y'])).toBe('+2 more')
  })
})

describe('settings', () => {
  const chat = { CHAT_WEBHOOK_URL: HOOK }
  const webhook = { PLATFORM_NOTIFICATIONS_CHANNEL: 'webhook', NOTIFICATIONS_WEBHOOK_URL: 'https://x/y' }
  it('default to the chat', () => {
    expect(readSettings(chat)).toEqual({
      host: '127.0.0.1',
      port: 8080,
      token: '',
      logLevel: 'info',
      channel: { channel: 'chat', webhookUrl: HOOK },
    })
  })
  it.each([
    [{}, /CHAT_WEBHOOK_URL is not set/],
    [{ CHAT_WEBHOOK_URL: ' ' }, /CHAT_WEBHOOK_URL is not set/],
    [{ CHAT_WEBHOOK_URL: 'hook' }, /CHAT_WEBHOOK_URL is no valid address$/],
    [{ ...chat, LOG_LEVEL: 'CHATTY' }, /LOG_LEVEL/],
    [{ ...chat, PLATFORM_NOTIFICATIONS_CHANNEL: 'pager' }, /PLATFORM_NOTIFICATIONS_CHANNEL/],
    [{ PLATFORM_NOTIFICATIONS_CHANNEL: 'email' }, /EMAIL_FROM.*\n.*EMAIL_TO.*\nSMTP_URL/],
    [{ ...webhook, NOTIFICATIONS_WEBHOOK_SECRET: 'short' }, /SECRET/],
  ])('refuse %j', (env, text) => {
    expect(() => readSettings(env)).toThrow(text)
  })
  it.each(['debug', 'INFO', 'Warning', 'CRITICAL'])('know the level %s', (LOG_LEVEL) => {
    expect(() => readSettings({ ...chat, LOG_LEVEL })).not.toThrow()
  })
})
