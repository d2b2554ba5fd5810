import { describe, expect, it } from 'vitest'
import type { ActivityEvent, AttemptResult } from '../../../console/client/api/client.ts'
import { foldActivity, mergeAttempts, withStatuses } from '../../../console/ui/round/activity.ts'

type Given = { type: string } & Record<string, unknown>
const at = (id: number) => `2026-03-01T10:00:${String(id).padStart(2, '0')}.000000Z`
const tell = (...events: Given[]) =>
  events.map((event, index) => ({ id: index + 1, round: 1, at: at(index + 1), ...event }) as unknown as ActivityEvent)

const attempt = (number: number, more: Record<string, unknown> = {}) => ({
  type: 'attempt.began',
  attempt: number,
  max_attempts: 5,
  task: 'generate',
  reason: null,
  ...more,
})
const chain = (type: 'began' | 'ended', name: string) => ({
  type: `chain.${type}`,
  chain: name,
  ...(type === 'ended' && { outcome: 'ok', seconds: 1.5 }),
})
const engine = (step: string, exit_code?: number | null) =>
  exit_code === undefined ? { type: 'engine.began', step } : { type: 'engine.ended', step, exit_code, seconds: 2 }

const states = (lane: { steps: { name: string; state: string }[] } | undefined) =>
  Object.fromEntries(lane?.steps.map(({ name, state }) => [name, state]) ?? [])

describe('foldActivity', () => {
  it('fills the lane of an attempt step by step', () => {
    const events = tell(attempt(1), chain('began', 'IAC_GENERATOR'), chain('ended', 'IAC_GENERATOR'), engine('init'))
    const { lanes } = foldActivity(events, false)
    expect(lanes).toHaveLength(1)
    expect(states(lanes[0])).toEqual({
      generate: 'ok',
      init: 'running',
      validate: 'waiting',
      plan: 'waiting',
      check: 'waiting',
    })
    expect(lanes[0]?.steps[0]?.seconds).toBe(1.5)
  })

  it('closes a lane when the next attempt begins: what was not reached is skipped, what has no end stays open', () => {
    const { lanes } = foldActivity(
      tell(attempt(1), engine('validate'), engine('validate', 1), engine('plan'), attempt(2, { reason: 'validation' })),
      false,
    )
    expect(states(lanes[0])).toMatchObject({ validate: 'failed', plan: 'open', check: 'skipped' })
    expect(lanes[1]?.reason).toBe('validation')
  })

  it('keeps what comes before the attempts and after them in lanes of their own', () => {
    const { lanes } = foldActivity(
      tell(
        chain('began', 'REQUESTS_FILTER'),
        chain('ended', 'REQUESTS_FILTER'),
        attempt(1),
        attempt(1, { task: 'converge', max_attempts: 2 }),
        chain('began', 'REPORT_GENERATOR'),
        engine('plan'),
        chain('ended', 'REPORT_GENERATOR'),
        engine('plan', 0),
        chain('began', 'COMPLIANCE_CHECKER'),
      ),
      true,
    )
    expect(lanes.map(({ kind }) => kind)).toEqual(['request', 'attempt', 'converge', 'report'])
    expect(states(lanes[3])).toEqual({ REPORT_GENERATOR: 'ok', plan: 'ok', COMPLIANCE_CHECKER: 'open' })
  })

  it('sums up what was written and read, and leaves the words for messages out', () => {
    const file = { type: 'file.written', path: 'a.tf' }
    const written = (lines_added: number, lines_removed: number) => ({ ...file, lines_added, lines_removed })
    const read = { type: 'tool.called', chain: 'IAC_GENERATOR', tool: 'read_file', outcome: 'ok', seconds: 0 }
    const { lanes, lines } = foldActivity(
      tell(attempt(1), chain('began', 'STATUS_UPDATE'), read, written(3, 1), written(2, 2)),
      false,
    )
    expect(lanes[0]).toMatchObject({ reads: 1, files: [{ path: 'a.tf', added: 5, removed: 3 }] })
    expect(lines.map(({ what }) => what)).toEqual(['attempt', 'reads', 'changed', 'changed'])
  })

  it('bears events that it does not know, and ends without a beginning', () => {
    const { lanes, lines } = foldActivity(
      tell({ type: 'moon.rose' }, engine('plan', 0), chain('ended', 'NEW_CHAIN'), { type: 'cut', limit: 'rows' }),
      true,
    )
    expect(lines.map(({ what, about }) => `${what} ${about}`)).toEqual([
      'moon.rose ',
      'engine plan',
      'model new chain',
      expect.stringContaining('cut'),
    ])
    expect(lanes).toEqual([])
  })

  it('knows who stops the round, and what the session has spent', () => {
    const folded = foldActivity(
      tell({ type: 'round.cancelling', by: 'ada@example.org' }, { type: 'budget.spent', tokens: 5, limit: 10 }),
      false,
    )
    expect(folded).toMatchObject({ cancelling: 'ada@example.org', budget: { tokens: 5, limit: 10 } })
  })

  it('knows what the last call left of the budgets', () => {
    const left = (used: number) => ({
      type: 'budget.left' as const,
      budgets: [{ budget: 'round' as const, unit: 'tokens' as const, limit: 100, used, left: 100 - used }],
    })
    const { budgets, lines } = foldActivity(tell(left(20), left(60)), false)
    expect(budgets).toMatchObject([{ used: 60, left: 40 }])
    expect(lines).toEqual([])
  })

  it('folds 5,000 events of one attempt', () => {
    const many = tell(
      attempt(1),
      ...Array.from({ length: 5_000 }, (_, index) => (index % 2 ? engine('plan', 0) : engine('plan'))),
    )
    const { lines } = foldActivity(many, true)
    expect(lines).toHaveLength(2_501)
  })
})

const record = (number: number, more: Partial<AttemptResult> = {}): AttemptResult => ({
  number,
  restart: 0,
  task: 'generate',
  started_at: at(number * 10),
  ended_at: at(number * 10 + 5),
  outcome: 'refused',
  steps: [],
  diagnostics: [],
  diagnostics_total: 0,
  commit: null,
  input_tokens: 10,
  cached_tokens: 0,
  output_tokens: 1,
  cost_usd: null,
  next_reason: null,
  ...more,
})
const step = (name: 'plan' | 'show', outcome: 'ok' | 'failed', seconds: number) => ({ name, outcome, seconds, runs: 1 })

describe('mergeAttempts', () => {
  const { lanes } = foldActivity(tell(attempt(1), attempt(1, { task: 'drift' }), attempt(2, { reason: 'plan' })), false)

  it('pairs the nth attempt of a task with the nth that was recorded', () => {
    const merged = mergeAttempts(lanes, [record(1), record(2, { task: 'drift' }), record(3, { outcome: 'accepted' })])
    expect(merged.map(({ record }) => record?.number)).toEqual([1, 2, 3])
  })

  it('takes the sentence that says why an attempt began, else the word of the event', () => {
    const withReason = [record(1, { next_reason: 'The plan is refused.' })]
    const { lanes: two } = foldActivity(tell(attempt(1), attempt(2, { reason: 'plan' })), false)
    expect(mergeAttempts(two, withReason)[1]?.because).toBe('The plan is refused.')
    expect(mergeAttempts(two, [])[1]?.because).toBe('plan')
  })

  it('shows recorded attempts of which nothing was told, and joins planning with reading the plan', () => {
    const steps = [step('plan', 'ok', 1), step('show', 'failed', 0.5)]
    const [lane] = mergeAttempts([], [record(1, { steps })])
    expect(lane?.steps).toEqual([{ name: 'plan', state: 'failed', seconds: 1.5, runs: 1 }])
  })

  it('keeps the steps of an attempt that still runs', () => {
    const [lane] = mergeAttempts(lanes.slice(2), [record(1, { outcome: null, ended_at: null })])
    expect(lane?.steps).toHaveLength(5)
  })
})

describe('withStatuses', () => {
  it('puts each message once among the lines, by its time', () => {
    const { lines } = foldActivity(tell(attempt(1), engine('plan')), false)
    const status = 'generating' as const
    const said = (message: string | null, created_at: string) => ({ status, message, created_at })
    const all = withStatuses(lines, [said(null, at(0)), said('one', at(0)), said('one', at(1)), said('two', at(9))])
    expect(all.map(({ about }) => about)).toEqual(['one', '1 of 5', 'plan', 'two'])
  })
})
