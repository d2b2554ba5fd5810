import type { SessionSummary } from '../../console/client/api/types.ts'

/** A page of a list that has `total` sessions. */
export function sessionPage(page: number, pageSize: number, total: number) {
  const first = (page - 1) * pageSize
  const length = Math.max(0, Math.min(pageSize, total - first))
  return {
    items: Array.from({ length }, (_, index) => session(first + index)),
    total,
    page,
    page_size: pageSize,
    total_pages: Math.ceil(total / pageSize),
  }
}

function session(number: number): SessionSummary {
  const at = new Date(Date.UTC(2026, 0, 1) - number * 60_000).toISOString()
  return {
    uuid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    username: 'ada@example.org',
    operation: number % 3 === 0 ? 'drift' : 'generate',
    provider: 'aws',
    first_query: `Request ${number}: add a queue with a dead-letter queue and an alarm.`,
    workspace: { uri: 'https://git.example.org/acme/infrastructure.git', branch: 'Platform/x', root_path: null },
    current_status: number % 5 === 0 ? 'failed' : 'completed',
    in_flight: false,
    is_blocked: number % 7 === 0,
    created_at: at,
    updated_at: at,
  }
}
