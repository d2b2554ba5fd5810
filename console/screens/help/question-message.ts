import { ApiError, type NotificationBody, problemsByField } from '../../client/api/client.ts'

export interface Question {
  subject: string
  body: string
  severity: NotificationBody['severity']
  /** The session in question; blank for none, null while not selected. */
  session_id: string | null
}

export const SEVERITIES: readonly [Question['severity'], string][] = [
  ['info', 'A question'],
  ['warning', 'Something looks wrong'],
  ['error', 'I cannot go on'],
  ['critical', 'Something is breaking now'],
]

interface Sender {
  /** The origin of the console, for the link to the session. */
  origin: string
  /** The address to reply to, because the message itself does not name its sender. */
  from: string | null
}

/** Returns the message in the API's form. */
export const toMessage = (
  { subject, body, severity, session_id }: Question,
  { origin, from }: Sender,
): NotificationBody => ({
  kind: 'support.user_question',
  severity,
  subject: subject.trim(),
  body,
  ...(session_id && {
    links: [{ label: 'Session', url: `${origin}/console/sessions/${encodeURIComponent(session_id)}` }],
  }),
  context: { ...(from && { from }), ...(session_id && { session_id }) },
})

/** Returns the errors of a question by field. */
export function findFaults({ subject, body }: Question): Record<string, string> {
  const faults: Record<string, string> = {}
  if (subject.trim() === '') faults.subject = 'Enter a subject.'
  if (body.trim() === '') faults.body = 'Write your question.'
  return faults
}

const FIELDS = ['subject', 'body', 'severity']

/** Reads the refusal of a message: errors of fields, or of the whole message. */
export function readFailure(error: unknown): { faults: Record<string, string>; kind: 'fields' | 'disabled' | 'other' } {
  const faults = Object.fromEntries(Object.entries(problemsByField(error)).filter(([name]) => FIELDS.includes(name)))
  if (Object.keys(faults).length > 0) return { faults, kind: 'fields' }
  return { faults, kind: error instanceof ApiError && error.status === 503 ? 'disabled' : 'other' }
}
