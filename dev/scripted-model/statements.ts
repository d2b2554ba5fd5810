import { type Conversation, call, type Reply } from './conversation.ts'
import { findRecording } from './recordings.ts'

/** INTENT_CHECK: the statements that were recorded with the work; none for other requests. */
export function statements({ data }: Conversation): Reply {
  const request = data.get('request') ?? ''
  return {
    calls: [call('report_intent_statements', { statements: findRecording(request)?.statements(request) ?? [] })],
  }
}
