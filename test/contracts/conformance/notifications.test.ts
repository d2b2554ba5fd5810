import { describe, expect, it } from 'vitest'
import { ChannelError, createDeliveries } from '../../../sidecars/notifications/deliveries.ts'
import { createNotificationsApp } from '../../../sidecars/notifications/main.ts'
import { silentLogger } from '../../../src/base/log.ts'
import {
  answering,
  before,
  brokenOf,
  type Handler,
  isNew,
  judged,
  lenient,
  problem,
  promisesOf,
  TOKEN,
} from './fakes/serve.ts'

const bundled = (deliver: () => Promise<void> = async () => {}): Handler => {
  const app = createNotificationsApp({ token: TOKEN, deliveries: createDeliveries({ deliver }), log: silentLogger })
  return (request) => app.fetch(request)
}
const unreachable = () => Promise.reject(new ChannelError('the channel answered HTTP 500'))
const good = bundled()
type Sent = {
  subject?: string
  links?: { label: string; url: string }[]
  context?: Record<string, unknown>
  severity?: string
  audience?: unknown[]
}
const accepting = (change: (sent: Sent) => object | null): Handler => lenient(good, change)
const refusing = (refuses: (sent: Sent) => boolean, status = 422): Handler =>
  before(good, ({ json, pass }) =>
    typeof json === 'object' && json !== null && refuses(json) ? problem(status) : pass(),
  )

const seen = new Set<string>()

const DEFECTS: Record<string, Handler> = {
  'no delivery id: notify.delivery-id, notify.again, notify.answers': answering(
    good,
    202,
    ({ delivery_id: _, ...json }) => json,
  ),
  'an empty delivery id: notify.delivery-id, notify.answers': answering(good, 202, () => ({ delivery_id: '' })),
  'one delivery id for all: notify.different': answering(good, 202, () => ({ delivery_id: 'one' })),
  '200 instead of 202: notify.delivery-id, notify.answers': before(good, async ({ pass }) => {
    const response = await pass()
    return response.status === 202 ? Response.json(await response.json()) : response
  }),
  'a subject of two lines: notify.single-line, notify.values': accepting((sent) =>
    sent.subject?.includes('\n') ? { ...sent, subject: sent.subject.replaceAll('\n', ' ') } : null,
  ),
  'a line feed at the end of a subject: notify.single-line, notify.values': accepting((sent) =>
    sent.subject?.endsWith('\n') ? { ...sent, subject: 'x' } : null,
  ),
  '33 links: notify.lengths': accepting((sent) =>
    sent.links?.length === 33 ? { ...sent, links: sent.links.slice(1) } : null,
  ),
  '31 links at most: notify.limits': refusing((sent) => sent.links?.length === 32),
  'an audience of 257: notify.lengths': accepting((sent) =>
    sent.audience?.length === 257 ? { ...sent, audience: [] } : null,
  ),
  'an undeclared key inside a link: notify.undeclared': accepting((sent) =>
    sent.links?.[0] && Object.keys(sent.links[0]).length > 2 ? { ...sent, links: [] } : null,
  ),
  'an unknown severity: notify.values': accepting((sent) =>
    sent.severity === 'INFO' ? { ...sent, severity: 'info' } : null,
  ),
  'a context of one level only: notify.context': refusing((sent) =>
    Object.values(sent.context ?? {}).some(
      (value) => typeof value === 'object' && value !== null && JSON.stringify(value).includes('three'),
    ),
  ),
  '503 for a deep context: notify.strange': before(good, ({ text, pass }) =>
    text?.includes('[[[[[') ? problem(503) : pass(),
  ),
  '409 for the same again: notify.again': before(good, ({ text, path, pass }) => {
    if (path !== '/v1/notify' || !text?.includes('the same again')) return pass()
    return isNew(seen, text) ? pass() : problem(409)
  }),
  'links with https are refused: notify.links': refusing(
    (sent) => sent.links?.[0]?.url.startsWith('https://xn--') ?? false,
  ),
  '500 for other links: notify.links': refusing((sent) => sent.links?.[0]?.url.startsWith('urn:') ?? false, 500),
  'the address of the channel in a problem: notify.channel-error, notify.answers': before(
    bundled(unreachable),
    async ({ pass }) => {
      const response = await pass()
      return response.status === 502
        ? problem(502, { detail: 'POST https://chat.example.com/hooks/secret failed' })
        : response
    },
  ),
}

describe('the suite of the notifications contract', () => {
  it('finds nothing wrong with the bundled implementation', async () => {
    const outcome = await judged('notifications', good)
    expect(brokenOf(outcome)).toEqual([])
    expect(outcome.promises.filter((each) => each.outcome === 'skipped').map(({ id }) => id)).toEqual([
      'notify.channel-error',
    ])
  })

  it('takes a channel that fails for what the contract allows, and says what it could not see', async () => {
    const outcome = await judged('notifications', bundled(unreachable), { only: ['notify.'] })
    expect(brokenOf(outcome)).toEqual([])
    expect(outcome.promises.find(({ id }) => id === 'notify.channel-error')?.outcome).toBe('passed')
    expect(outcome.promises.find(({ id }) => id === 'notify.delivery-id')).toMatchObject({
      outcome: 'skipped',
      reason: expect.stringContaining('502'),
    })
  })

  it.each(Object.entries(DEFECTS))('finds %s', async (defect, handler) => {
    const promises = promisesOf(defect)
    const only = [...promises, 'notify.required', 'notify.accepts']
    expect(brokenOf(await judged('notifications', handler, { only }))).toEqual(expect.arrayContaining(promises))
  })
})
