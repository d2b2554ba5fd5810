import { ApiError, problemsByField } from '../../client/api/errors.ts'
import type { NotificationBody } from '../../client/api/schemas.ts'

export interface Question {
  subject: string
  body: string
  severity: NotificationBody['severity']
  /** The session that it is about; blank: none. Null: not chosen. */
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
  /** Whom to answer: the message itself does not say who sent it. */
  from: string | null
}

/** The message as the API takes it. */
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

/** A message that was not taken: at which fields, or as a whole. */
export function readFailure(error: unknown): { faults: Record<string, string>; kind: 'fields' | 'disabled' | 'other' } {
  const faults = Object.fromEntries(Object.entries(problemsByField(error)).filter(([name]) => FIELDS.includes(name)))
  if (Object.keys(faults).length > 0) return { faults, kind: 'fields' }
  return { faults, kind: error instanceof ApiError && error.status === 503 ? 'disabled' : 'other' }
}
