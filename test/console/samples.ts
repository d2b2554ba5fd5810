import type { Round, Seal, Session, Status } from '../../console/client/api/client.ts'
import { SEAL } from '../../routes/schemas/seal.ts'

const AT = '2026-01-31T23:59:59.000000Z'

/** Returns a round whose present status is `status` and that has stored nothing else yet. */
export const sampleRound = (number: number, status: Status, more: Partial<Round> = {}): Round => ({
  id: number,
  number,
  query: 'Add a queue.',
  preview: false,
  statuses: [{ status, message: null, created_at: AT }],
  reports: [],
  compliance_checks: [],
  plans: [],
  code_changes: [],
  previews: [],
  outputs: [],
  usage: null,
  budgets: [],
  pull_requests: [],
  state_question: null,
  attempts: [],
  created_at: AT,
  ...more,
})

/** Returns a session that waits for its next request. */
export const sampleSession = (rounds: Round[], more: Partial<Session> = {}): Session => ({
  uuid: '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11',
  username: 'ada@example.org',
  operation: 'generate',
  provider: 'aws',
  first_query: 'Add a queue.',
  workspace: { uri: 'https://github.com/acme/infrastructure.git', branch: 'Platform/1a2b', root_path: null },
  current_status: 'completed',
  in_flight: false,
  is_blocked: false,
  lock: null,
  created_at: AT,
  updated_at: AT,
  scope_id: 'acme-production',
  rounds,
  history: [],
  last_lock_change: null,
  seal: null,
  ...more,
})

export const sampleReport = (type: Round['reports'][number]['type']): Round['reports'][number] => ({
  id: 5,
  url: 'https://objects.example.com/report.json',
  content_type: 'application/json',
  file_size_bytes: 2_048,
  created_at: AT,
  type,
})

export const sampleSeal = (more: Partial<Seal> = {}): Seal => ({
  ...SEAL,
  valid: true,
  reason: null,
  explanation: null,
  ...more,
})

export const sampleAttempt: Round['attempts'][number] = {
  number: 1,
  restart: 0,
  task: 'generate',
  commit: null,
  outcome: 'accepted',
  started_at: AT,
  ended_at: AT,
  next_reason: null,
  steps: [],
  diagnostics: [],
  diagnostics_total: 0,
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
}
