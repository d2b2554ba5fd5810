import { expect, test } from 'vitest'
import type { Session } from '../../../dev/demo/api.ts'
import { checksOf, type Evidence } from '../../../dev/demo/checks.ts'
import type { Collected } from '../../../dev/demo/collect.ts'
import { MODES } from '../../../dev/demo/modes.ts'
import { type DemoResult, parseCounts, pickReport, readCounts, sumUp, sumUsage } from '../../../dev/demo/result.ts'

const collected = (parts: Partial<Collected>): Collected => ({
  artifacts: [],
  reports: {},
  report_url: null,
  findings: null,
  changes: [],
  plan: null,
  document: null,
  drift: [],
  preview: null,
  ...parts,
})
const session = (current_status: string, message = '', is_blocked = false): Session => ({
  uuid: 'u',
  current_status,
  in_flight: false,
  is_blocked,
  workspace: { branch: 'b' },
  rounds: [
    {
      number: 1,
      statuses: [{ status: current_status, message }],
      reports: [],
      compliance_checks: [],
      plans: [],
      code_changes: [],
      previews: [],
      usage: { engine_s: 1.0004, model_s: 0.5, validation_attempts: 2, input_tokens: 10, output_tokens: 5 },
    },
  ],
})
const evidence = (parts: Partial<Evidence>): Evidence => ({
  session: session('completed'),
  collected: collected({}),
  pull_request: null,
  refusals: [],
  ...parts,
})
const open = { id: 1, url: 'https://h/pull/1', status: 'open' }
const empty = { text: 'No changes. Your infrastructure matches the configuration.', targets: [] }
const missed = (mode: (typeof MODES)[number], parts: Partial<Evidence>) =>
  checksOf(mode, evidence(parts))
    .filter(({ ok }) => !ok)
    .map(({ name }) => name)

test('counts of a plan text: a replacement is neither an addition nor a destruction', () => {
  expect(parseCounts('Plan: 3 to add, 1 to change, 2 to destroy.')).toEqual({
    create: 3,
    update: 1,
    delete: 2,
    replace: 0,
  })
  expect(parseCounts('  # a.b must be replaced\n-/+ x\n\nPlan: 1 to add, 0 to change, 1 to destroy.')).toEqual({
    create: 0,
    update: 0,
    delete: 0,
    replace: 1,
  })
  expect(parseCounts(empty.text)).toEqual({ create: 0, update: 0, delete: 0, replace: 0 })
})

test('counts and report come from the last kind of report', () => {
  const generate = {
    summary: { create: 3, update: 0, delete: 0, recreate: 1 },
    detailed_changes: [],
    potential_impact: { banner: { level: 'low', title: '' }, bullet_points: [] },
  }
  expect(readCounts(collected({ reports: { generate } }))).toEqual({ create: 3, update: 0, delete: 0, replace: 1 })
  expect(pickReport(collected({ reports: { generate } }))).toEqual({
    type: 'generate',
    status: null,
    summary: generate.summary,
  })
  const apply = {
    summary: { total_resources: 2, created: 2, updated: 0, destroyed: 0, failed: 0 },
    status: 'Success',
    resource_changes: [],
  }
  expect(readCounts(collected({ reports: { generate, apply } })).create).toBe(2)
  expect(pickReport(collected({ reports: { generate, apply } }))).toEqual({
    type: 'apply',
    status: 'Success',
    summary: apply.summary,
  })
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

test('each mode has to end as it should', () => {
  expect(missed('generate', { pull_request: open })).toEqual([])
  expect(missed('generate', { session: session('failed') })).toEqual([
    'the session is completed',
    'the pull request is open',
  ])

  const drift = { summary: '', status: 'Succeeded', remediated_resources: [], unreconciled_drift: [] }
  const mended = collected({ drift: ['a'], reports: { drift }, plan: empty })
  expect(missed('full-drift', { collected: mended, pull_request: open })).toEqual([])
  expect(missed('partial-drift', { collected: { ...mended, drift: [] }, pull_request: open })).toEqual([
    'drift was found',
  ])
  expect(
    missed('full-drift', {
      collected: { ...mended, plan: { ...empty, text: 'Plan: 0 to add, 1 to change, 0 to destroy.' } },
    }),
  ).toEqual(['the last plan is empty', 'the pull request is open'])

  const imported = {
    summary: { selected: 2, imported: 1, failed: 1 },
    status: 'Partial',
    imported_resources: [],
    excluded_resources: [],
    state_alignment: '',
  }
  expect(
    missed('full-import', { collected: collected({ reports: { import: imported }, plan: empty }), pull_request: open }),
  ).toEqual(['all that was selected is imported'])
  const seen = collected({ drift: ['a'], reports: { drift } })
  expect(missed('drift-preview', { collected: seen })).toEqual([])
  expect(missed('drift-preview', { collected: { ...seen, drift: [] } })).toEqual(['drift was found'])
  const preview = { counts: { managed: 0, unmanaged: 1, left_out: 0 }, unmanaged: [] }
  const untouched = { ...imported, summary: { selected: 0, imported: 0, failed: 0 } }
  expect(missed('import-preview', { collected: collected({ preview, reports: { import: untouched } }) })).toEqual([])
  expect(missed('import-preview', { collected: collected({ reports: { import: imported } }) })).toEqual([
    'resources are listed',
    'nothing was imported',
  ])
  expect(missed('question', { session: session('uncompleted') })).toEqual([])
  expect(missed('declined', { session: session('completed') })).toEqual(['the session is uncompleted'])
  expect(missed('exhausted', { session: session('failed', 'runner failed: Validation loop exceeded.') })).toEqual([])
  expect(missed('exhausted', { session: session('failed', 'runner failed: other') })).toEqual(['the message says why'])

  const refused = { status: 409, detail: 'blocked' }
  expect(missed('blocked', { session: session('completed', '', true), refusals: [refused, refused] })).toEqual([])
  expect(missed('blocked', { refusals: [refused, { status: 202, detail: '' }] })).toEqual([
    'the session is locked',
    'apply and merge answer 409',
  ])
})

const KEYS = [
  'session_id',
  'mode',
  'status',
  'statuses',
  'plan',
  'targets',
  'validation_attempts',
  'pull_request',
  'artifacts',
  'engine',
  'duration_s',
  'engine_s',
  'model_s',
]

test('the line of all modes sums up and holds one result for each', () => {
  const result = (mode: DemoResult['mode'], ok: boolean): DemoResult => ({
    session_id: 'u',
    mode,
    status: 'completed',
    statuses: [],
    plan: { create: 1, update: 0, delete: 0, replace: 0 },
    targets: [],
    validation_attempts: 1,
    pull_request: open,
    artifacts: [],
    engine: { name: 'OpenTofu', version: '1.10.6' },
    duration_s: 2,
    engine_s: 1,
    model_s: 0.1,
    platform_s: 0.9,
    message: '',
    report: null,
    locked: false,
    checks: [],
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
  for (const one of all.results) expect(Object.keys(one)).toEqual(expect.arrayContaining(KEYS))
  expect(sumUp([result('generate', true), result('apply', false)], 1)).toMatchObject({ status: 'failed', ok: false })
})
