import { describe, expect, it } from 'vitest'
import type { OutputEvent, PlanDocument, Round, Seal, Session, Status } from '../../../console/client/api/client.ts'
import {
  countPlanned,
  countSteps,
  endWithoutReport,
  isApplyRound,
  outcomeOf,
  readProgress,
  readReport,
} from '../../../console/screens/seal/apply-outcome.ts'
import { confirmationFor, findLosses, findRefusal, isConfirmed } from '../../../console/screens/seal/apply-readiness.ts'
import type { ApplyReport } from '../../../src/reports/schemas.ts'
import { sampleAttempt, sampleReport, sampleRound, sampleSeal, sampleSession } from '../samples.ts'

const lines = (text: string, stream: 'stdout' | 'stderr' = 'stdout', step = 'apply') =>
  ({ type: 'lines', step, stream, text }) as OutputEvent
const ended = (exit_code: number | null) => ({ type: 'step.ended', step: 'apply', exit_code }) as OutputEvent

describe('the progress of an apply', () => {
  it('follows resources as OpenTofu and Terraform print them', () => {
    const progress = readProgress([
      lines('data.aws_ami.base: Reading...\ndata.aws_ami.base: Read complete after 1s [id=ami-1]\n'),
      lines('aws_vpc.main: Creating...\naws_vpc.main: Still creating... [10s elapsed]\n'),
      lines('module.a["x: y"].aws_db.b: Modifying... [id=b]\n'),
      lines('aws_old.o: Destroying... [id=o]\naws_old.o: Still destroying... [id=o, 00m20s elapsed]\n'),
      lines('aws_vpc.main: Creation complete after 12s [id=vpc-1]\n'),
    ])
    expect(progress.steps).toEqual([
      { address: 'data.aws_ami.base', effect: 'read', state: 'done', took: '1s' },
      { address: 'aws_vpc.main', effect: 'create', state: 'done', took: '12s' },
      { address: 'module.a["x: y"].aws_db.b', effect: 'change', state: 'running', took: '' },
      { address: 'aws_old.o', effect: 'destroy', state: 'running', took: '00m20s' },
    ])
    expect(countSteps(progress)).toEqual({ done: 1, running: 2, failed: 0 })
  })

  it('keeps both steps of a replacement, and ignores other steps of the engine and what outputs say', () => {
    const { steps } = readProgress([
      lines('x.y: Creating...\n', 'stdout', 'plan'),
      lines('x.y: Destroying... [id=1]\nx.y: Destruction complete after 0s\nx.y: Creating...\n'),
      lines('x.y: Creation complete after 2s [id=2]\nApply complete! Resources: 1 added, 0 changed, 1 destroyed.\n'),
      lines('Outputs:\nfake.one: Creating...\n'),
      ended(0),
    ])
    expect(steps.map(({ effect, state }) => `${effect} ${state}`)).toEqual(['destroy done', 'create done'])
  })

  it('tells what failed from what was cut off, with the errors of both engines', () => {
    const progress = readProgress([
      lines('a.one: Creating...\na.two: Creating...\n'),
      lines('╷\n│ Error: no quota\n│ \n│   with a.one,\n│   on main.tf line 1\n╵\n', 'stderr'),
      lines('\nError: denied\n\n  with a.three,\n', 'stderr'),
      ended(1),
    ])
    expect(progress.steps.map(({ address, state }) => `${address} ${state}`)).toEqual(['a.one failed', 'a.two stopped'])
    expect(progress.errors.map((text) => text.split('\n')[0])).toEqual(['Error: no quota', 'Error: denied'])
  })

  it('does not stumble over a line of a megabyte', () => {
    expect(readProgress([lines(`${'x'.repeat(1_000_000)}: Creating...\na.b: Creating...\n`)]).steps).toHaveLength(1)
  })

  it('counts a replacement as two steps', () => {
    const document = plan([
      ['a.b', 'replace', false],
      ['a.c', 'create', false],
      ['a.d', 'read', false],
    ])
    expect(countPlanned(document.resources)).toBe(3)
  })
})

const plan = (rows: [address: string, action: string, is_critical: boolean, known?: boolean][]) =>
  ({
    resources: rows.map(([address, action, is_critical, criticality_known = true]) => ({
      address,
      action,
      is_critical,
      criticality_known,
    })),
  }) as unknown as PlanDocument

describe('the confirmation of an apply', () => {
  it('has to be typed where anything goes away, and when nobody knows what does', () => {
    const typedFor = (rows: Parameters<typeof plan>[0]) => confirmationFor(findLosses(plan(rows)))
    expect(typedFor([['a.b', 'delete', false]])).toBe('a.b')
    expect(typedFor([['a.b', 'replace', false, false]])).toBe('a.b')
    expect(typedFor([['a.b', 'create', false, false]])).toBeNull()
    expect(typedFor([['a.b', 'update', true]])).toBeNull()
    expect(typedFor([['a.b', 'delete', true]])).toBe('a.b')
    expect(
      typedFor([
        ['a.b', 'replace', true],
        ['a.c', 'delete', false],
      ]),
    ).toBe('2')
    expect(typedFor([['a.b["\u202e"]', 'delete', true]])).toBe('1')
    expect(confirmationFor(null)).toBe('apply')
  })

  it('counts as unknown what no document tells, also one of an earlier version', () => {
    const document = plan([
      ['a.known', 'delete', false],
      ['a.unknown', 'delete', false, false],
      ['a.critical', 'replace', true],
      ['a.changed', 'update', false, false],
    ])
    expect(findLosses(document).unknown.map(({ address }) => address)).toEqual(['a.unknown'])
    const earlier = JSON.parse('[{ "address": "a.b", "action": "delete", "is_critical": false }]')
    expect(findLosses({ ...document, resources: earlier }).unknown).toEqual(earlier)
  })

  it('takes what was asked for, with spaces around and separated thousands', () => {
    expect(isConfirmed(null, '')).toBe(true)
    expect(isConfirmed('a.b', ' a.b ')).toBe(true)
    expect(isConfirmed('a.b', 'a.c')).toBe(false)
    expect(isConfirmed('1200', '1,200')).toBe(true)
    expect(isConfirmed('2', '')).toBe(false)
  })
})

describe('why an apply is refused', () => {
  const session = (more: Partial<Session>, seal: Seal | null = sampleSeal()) => sampleSession([], { seal, ...more })
  it('names the first reason, and none when nothing stands in the way', () => {
    const reason = (given: Session, isOwn = true) => findRefusal(given, isOwn)?.reason ?? null
    expect(reason(session({}))).toBeNull()
    expect(reason(session({}), false)).toMatch(/somebody else/)
    expect(reason(session({ in_flight: true }))).toMatch(/is running/)
    expect(reason(session({ is_blocked: true }))).toMatch(/locked/)
    expect(reason(session({ current_status: 'failed' }))).toMatch(/failed/)
    expect(reason(session({}, null))).toMatch(/no saved plan/)
    const used = sampleSeal({ valid: false, reason: 'used', explanation: 'Used by round 2.' })
    const later: Partial<Seal> = JSON.parse('{ "reason": "a reason of a later version" }')
    expect(reason(session({ is_blocked: true }, used))).toBe('Used by round 2.')
    expect(reason(session({}, { ...used, ...later }))).toBe('Used by round 2.')
  })
})

describe('how an apply ended', () => {
  const report = (status: ApplyReport['status'], changes: object[], total = changes.length) =>
    ({
      status,
      summary: { total_resources: total, created: 0, updated: 0, destroyed: 0, failed: total },
      execution_summary: 'x',
      resource_changes: changes,
      recommendations: [],
    }) as unknown as ApplyReport
  it('tells failed, refused and unknown apart', () => {
    const untouched = { action: 'no_change', status: 'failed', error_message: null }
    expect(outcomeOf(report('Success', []))).toBe('success')
    expect(outcomeOf(report('Partial', [untouched]))).toBe('partial')
    expect(outcomeOf(report('Failed', [untouched]))).toBe('nothing')
    expect(outcomeOf(report('Failed', [untouched, { ...untouched, action: 'created' }]))).toBe('failed')
    expect(outcomeOf(report('Failed', []))).toBe('unknown')
  })

  it('reads no other document as a report', () => {
    expect(readReport(report('Partial', []))).not.toBeNull()
    for (const other of [null, 'Success', {}, { ...report('Success', []), status: 'Fine' }])
      expect(readReport(other)).toBeNull()
  })

  it('knows the rounds of apply, and how one without a report ended', () => {
    const round = (status: Status, more: Partial<Round> = {}) =>
      sampleRound(1, status, { query: 'Engine apply.', ...more })
    expect(isApplyRound(round('started'))).toBe(true)
    expect(isApplyRound(round('completed', { query: 'Add a queue.' }))).toBe(false)
    expect(isApplyRound(round('completed', { query: 'Engine apply.', attempts: [sampleAttempt] }))).toBe(false)
    expect(endWithoutReport(round('apply'))).toBeNull()
    expect(endWithoutReport(round('uncompleted'))).toBe('cancelled')
    expect(endWithoutReport(round('failed'))).toBe('failed')
    expect(endWithoutReport(round('completed', { reports: [sampleReport('apply')] }))).toBeNull()
  })
})
