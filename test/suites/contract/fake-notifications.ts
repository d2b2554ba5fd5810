import type { Running, ServerAnswer, ServerRequest } from '../../../dev/server.ts'
import { jsonOf, startFake } from './http.ts'

export interface Notification {
  kind: string
  severity: string
  subject: string
  body: string
  audience?: string[]
  context?: Record<string, unknown>
}
export interface FakeNotifications extends Running {
  received: Notification[]
  /** The answer to requests, or none. */
  answer: 202 | 500 | 'nothing'
}

const KEYS = ['kind', 'severity', 'subject', 'body', 'audience', 'links', 'context']

/** Starts a sidecar that records its requests. A body that breaks the contract is refused and not recorded. */
export async function startFakeNotifications(): Promise<FakeNotifications> {
  const respond = async (request: ServerRequest): Promise<ServerAnswer> => {
    const body = (await jsonOf(request)) as Notification & Record<string, unknown>
    const { kind, subject, body: text } = body
    const broken =
      Object.keys(body).some((key) => !KEYS.includes(key)) ||
      !/^[a-z]+(\.[a-z]+)+$/.test(kind) ||
      subject.length === 0 ||
      subject.length > 256 ||
      /[\r\n]/.test(subject) ||
      text.length === 0 ||
      text.length > 16_384
    if (broken) return { status: 422, body: { title: 'broken', status: 422 } }
    fake.received.push(body)
    if (fake.answer === 'nothing') return new Promise(() => {})
    return { status: fake.answer, body: { delivery_id: crypto.randomUUID() } }
  }
  const fake: FakeNotifications = { ...(await startFake(respond)), received: [], answer: 202 }
  return fake
}
