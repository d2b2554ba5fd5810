import { expect, test } from 'vitest'
import type { Session } from '../../../dev/demo/api.ts'
import type { Collected } from '../../../dev/demo/collect.ts'
import { MODES } from '../../../dev/demo/options.ts'
import {
  checksOf,
  type DemoResult,
  type Evidence,
  parseCounts,
  pickReport,
  readCounts,
  sumUp,
  sumUsage,
  unplayedResult,
} from '../../../dev/demo/result.ts'

/** Makes the artifacts of a session, with the parts of reports that are read. */
const collected = (parts: object): Collected => ({
  artifacts: [],
  reports: {},
  report_url: null,
  findings: null,
  files: [],
  plan: null,
  document: null,
  drift: [],
  preview: null,
  ...parts,
})
const created_at = '2026-02-01T00:00:00.000000Z'
const session = (current_status: Session['current_status'], message = '', is_blocked = false): Session => ({
  ...{ uuid: 'b7c1', username: 'ada@example.org', operation: 'generate', provider: 'aws', scope_id: 'acme' },
  ...{ first_query: 'Add a queue.', history: null, seal: null, in_flight: false, lock: null, last_lock_change: null },
  ...{ created_at, updated_at: created_at },
  workspace: { uri: 'https://git.example.org/acme/web.git', branch: 'Platform/x', root_path: null },
  current_status,
  is_blocked,
  rounds: [
    {
      ...{ id: 1, number: 1, query: 'Add a queue.', preview: false, created_at },
      statuses: [{ status: current_status, message, created_at }],
      ...{ reports: [], compliance_checks: [], plans: [], code_changes: [], previews: [], outputs: [] },
      ...{ pull_requests: [], attempts: [], state_question: null, budgets: [] },
      usage: {
        ...{ engine_s: 1.0004, model_s: 0.5, validation_attempts: 2, cost_usd: null },
        ...{ input_tokens: 10, cached_tokens: 0, output_tokens: 5 },
      },
    },
  ],
})
const open = { id: 1, url: 'https://h/pull/1', status: 'open' }
const empty = { text: 'No changes. Your infrastructure matches the configuration.', targets: [] }

test.each([
  ['Plan: 3 to add, 1 to change, 2 to destroy.', { create: 3, update: 1, delete: 2, replace: 0 }],
  [
    '  # a.b must be replaced\n-/+ x\n\nPlan: 1 to add, 0 to change, 1 to destroy.',
    { create: 0, update: 0, delete: 0, replace: 1 },
  ],
  [empty.text, { create: 0, update: 0, delete: 0, replace: 0 }],
])('counts of the plan text %j: a replacement is neither an addition nor a destruction', (text, counts) => {
  expect(parseCounts(text)).toEqual(counts)
})

test('counts and report come from the last kind of report', () => {
  const generate = { summary: { create: 3, update: 0, delete: 0, recreate: 1 } }
  const planned = collected({ reports: { generate } })
  expect(readCounts(planned)).toEqual({ create: 3, update: 0, delete: 0, replace: 1 })
  expect(pickReport(planned)).toEqual({ type: 'generate', status: null, summary: generate.summary })
  const apply = { summary: { created: 2, updated: 0, destroyed: 0 }, status: 'Success' }
  const applied = collected({ reports: { generate, apply } })
  expect(readCounts(applied).create).toBe(2)
  expect(pickReport(applied)).toEqual({ type: 'apply', status: 'Success', summary: apply.summary })
  expect(pickReport(collected({}))).toBeNull()
})

test('usage is summed over the rounds and rounded', () => {
  const { rounds } = session('completed')
  expect(sumUsage({ ...session('completed'), rounds: [...rounds, ...rounds] })).toEqual({
    engine_s: 2.001,
    model_s: 1,
    validation_attempts: 4,
  })
})

const drift = { status: 'Succeeded', remediated_resources: [] }
const mended = { drift: ['a'], reports: { drift }, plan: empty }
const imported = (selected: number, count: number) => ({
  import: { summary: { selected, imported: count, failed: selected - count } },
})
const preview = { counts: { managed: 0, unmanaged: 1, left_out: 0 }, unmanaged: [] }
const exhausted = (message: string) => session('failed', `runner failed: ${message}`)
const locked = session('completed', '', true)
const refused = { status: 409, detail: 'blocked' }

test.each<
  [mode: (typeof MODES)[number], parts: Partial<Omit<Evidence, 'collected'>> & { left?: object }, unmet: string[]]
>([
  ['generate', { pull_request: open }, []],
  ['generate', { session: session('failed') }, ['the session is completed', 'the pull request is open']],
  ['full-drift', { left: mended, pull_request: open }, []],
  ['partial-drift', { left: { ...mended, drift: [] }, pull_request: open }, ['drift was found']],
  [
    'full-drift',
    { left: { ...mended, plan: { targets: [], text: 'Plan: 0 to add, 1 to change, 0 to destroy.' } } },
    ['the last plan is empty', 'the pull request is open'],
  ],
  [
    'full-import',
    { left: { reports: imported(2, 1), plan: empty }, pull_request: open },
    ['all that was selected is imported'],
  ],
  ['drift-preview', { left: { drift: ['a'], reports: { drift } } }, []],
  ['drift-preview', { left: { reports: { drift } } }, ['drift was found']],
  ['import-preview', { left: { preview, reports: imported(0, 0) } }, []],
  ['import-preview', { left: { reports: imported(2, 1) } }, ['resources are listed', 'nothing was imported']],
  ['question', { session: session('uncompleted') }, []],
  ['declined', { session: session('completed') }, ['the session is uncompleted']],
  ['exhausted', { session: exhausted('Validation loop exceeded.') }, []],
  ['exhausted', { session: exhausted('other') }, ['the message says why']],
  ['blocked', { session: locked, refusals: [refused, refused] }, []],
  [
    'blocked',
    { refusals: [refused, { status: 202, detail: '' }] },
    ['the session is locked', 'apply and merge answer 409'],
  ],
])('%s has to end as it should (%#)', (mode, { left = {}, ...parts }, unmet) => {
  const evidence: Evidence = {
    session: session('completed'),
    collected: collected(left),
    pull_request: null,
    refusals: [],
    ...parts,
  }
  const missed = checksOf(mode, evidence).filter(({ ok }) => !ok)
  expect(missed.map(({ name }) => name)).toEqual(unmet)
})

const KEYS =
  'session_id mode status statuses plan targets validation_attempts pull_request' +
  ' artifacts engine duration_s engine_s model_s'

test('the line of all modes sums up and holds one result for each', () => {
  const result = (mode: DemoResult['mode'], ok: boolean): DemoResult => ({
    ...unplayedResult(mode, { name: 'OpenTofu', version: '1.10.6' }, ''),
    plan: { create: 1, update: 0, delete: 0, replace: 0 },
    engine_s: 1,
    ok,
  })
  const all = sumUp(
    MODES.map((mode) => result(mode, true)),
    25,
  )
  expect(all).toMatchObject({
    mode: 'all',
    status: 'completed',
    ok: true,
    duration_s: 25,
    engine_s: 12,
    plan: { create: 12 },
  })
  expect(all.results.map(({ mode }) => mode)).toEqual(MODES)
  for (const one of all.results) expect(Object.keys(one)).toEqual(expect.arrayContaining(KEYS.split(' ')))
  expect(sumUp([result('generate', true), result('apply', false)], 1)).toMatchObject({ status: 'failed', ok: false })
})
