import { createServer } from 'node:http'
import { type Listening, listening, readJson, sendJson } from './http.ts'

export interface Notification {
  kind: string
  severity: string
  subject: string
  body: string
  audience?: string[]
  context?: Record<string, unknown>
}
export interface FakeNotifications extends Listening {
  received: Notification[]
  /** What is answered, or nothing at all. */
  answer: 202 | 500 | 'nothing'
}

const KEYS = ['kind', 'severity', 'subject', 'body', 'audience', 'links', 'context']

/** Records what it gets; a body that breaks the contract is not recorded but refused. */
export async function startFakeNotifications(): Promise<FakeNotifications> {
  const server = createServer(async (request, response) => {
    const body = (await readJson(request)) as Notification & Record<string, unknown>
    const { kind, subject, body: text } = body
    const broken =
      Object.keys(body).some((key) => !KEYS.includes(key)) ||
      !/^[a-z]+(\.[a-z]+)+$/.test(kind) ||
      subject.length === 0 ||
      subject.length > 256 ||
      /[\r\n]/.test(subject) ||
      text.length === 0 ||
      text.length > 16_384
    if (broken) return sendJson(response, 422, { title: 'broken', status: 422 })
    fake.received.push(body)
    if (fake.answer === 'nothing') return
    sendJson(response, fake.answer, { delivery_id: crypto.randomUUID() })
  })
  const fake: FakeNotifications = { ...(await listening(server)), received: [], answer: 202 }
  return fake
}
