import { describe, expect, it } from 'vitest'
import { createMasker } from '../../src/base/masking.ts'
import type { PlannedChange } from '../../src/plan/actions.ts'
import { applyFacts, settleApplyReport } from '../../src/reports/settle-apply.ts'
import type { ApplyResult } from '../../src/rounds/applies.ts'

const change = (address: string, action: PlannedChange['action'] = 'create'): PlannedChange => ({
  address,
  type: /([a-z]+_[a-z0-9_]+)\.[^.]+$/.exec(address.replaceAll(/\[.*?\]/g, '').replace(/ \(.*/, ''))?.[1] ?? '',
  action,
})
const ran = (exit_code: number, stdout: string, stderr = ''): ApplyResult => ({
  kind: 'ran',
  exit_code,
  stdout,
  stderr,
})
const entries = (result: ApplyResult, planned: PlannedChange[]) =>
  applyFacts(result, planned).resource_changes.map(({ resource_type, resource_name, action, status }) => [
    resource_type,
    resource_name,
    action,
    status,
  ])

const CLEAN = `module.net["eu, west"].aws_subnet.each["a: b"]: Creating...
module.net["eu, west"].aws_subnet.each["a: b"]: Creation complete after 3s [id=subnet-1]
aws_vpc.main: Modifying... [id=vpc-1]
aws_vpc.main: Still modifying... [id=vpc-1, 10s elapsed]
aws_vpc.main: Modifications complete after 1m12s [id=vpc-1]
aws_instance.web: Destroying... [id=i-1]
aws_instance.web: Destruction complete after 41s
aws_instance.web: Creating...
aws_instance.web: Creation complete after 20s [id=i-2]
aws_s3_bucket.old[0]: Destroying... [id=b]
aws_s3_bucket.old[0]: Destruction complete after 0s

Apply complete! Resources: 2 added, 1 changed, 2 destroyed.

Outputs:

note = <<EOT
aws_iam_role.admin: Creation complete after 0s
Apply complete! Resources: 99 added, 99 changed, 99 destroyed.
EOT
`
const PLANNED = [
  change('module.net["eu, west"].aws_subnet.each["a: b"]'),
  change('aws_vpc.main', 'update'),
  change('aws_instance.web', 'replace'),
  change('aws_s3_bucket.old[0]', 'delete'),
]

describe('an apply that went through', () => {
  it('is counted as the engine counts, resource by resource', () => {
    expect(applyFacts(ran(0, CLEAN), PLANNED)).toMatchObject({
      status: 'Success',
      summary: { total_resources: 5, created: 2, updated: 1, destroyed: 2, failed: 0 },
      execution_summary: 'The plan was applied: 2 created, 1 updated, 2 destroyed.',
      recommendations: [],
    })
    expect(entries(ran(0, CLEAN), PLANNED)).toEqual([
      ['aws_subnet', 'module.net["eu, west"].each["a: b"]', 'created', 'success'],
      ['aws_vpc', 'main', 'updated', 'success'],
      ['aws_instance', 'web', 'destroyed', 'success'],
      ['aws_instance', 'web', 'created', 'success'],
      ['aws_s3_bucket', 'old[0]', 'destroyed', 'success'],
    ])
  })

  it('is complete also when lines of the output are missing', () => {
    expect(applyFacts(ran(0, 'Apply complete! Resources: 2 added, 1 changed, 2 destroyed.'), PLANNED).summary).toEqual({
      total_resources: 5,
      created: 2,
      updated: 1,
      destroyed: 2,
      failed: 0,
    })
    expect(applyFacts(ran(0, ''), PLANNED)).toMatchObject({
      status: 'Success',
      summary: { created: 2, updated: 1, destroyed: 2 },
    })
  })

  it('counts what OpenTofu removed from the state alone as nothing that was destroyed', () => {
    const planned: PlannedChange[] = [{ ...change('aws_instance.web', 'replace'), keeps_old: true }]
    const stdout = [
      'aws_instance.web: Creating...',
      'aws_instance.web: Creation complete after 1s [id=i-2]',
      '',
      'Apply complete! Resources: 1 added, 0 changed, 0 destroyed, 2 forgotten.',
      '',
      'Outputs:',
      '',
      'note = "Apply complete! Resources: 9 added, 9 changed, 9 destroyed."',
    ].join('\n')
    for (const text of [stdout, ''])
      expect(applyFacts(ran(0, text), planned)).toMatchObject({
        summary: { total_resources: 1, created: 1, updated: 0, destroyed: 0, failed: 0 },
        execution_summary: 'The plan was applied: 1 created, 0 updated, 0 destroyed.',
        resource_changes: [
          { action: 'created', details: 'Created. The object before it was removed from the state and still exists.' },
        ],
      })
    const imported = 'Apply complete! Resources: 1 imported, 3 added, 2 changed, 1 destroyed, 1 forgotten.'
    expect(applyFacts(ran(0, imported), []).summary).toMatchObject({ created: 3, updated: 2, destroyed: 1 })
  })

  it('with imports, without changes', () => {
    const imported = applyFacts(ran(0, 'Apply complete! Resources: 1 imported, 0 added, 0 changed, 0 destroyed.'), [])
    expect(imported).toMatchObject({
      status: 'Success',
      summary: { total_resources: 0, created: 0 },
      resource_changes: [],
    })
  })
})

describe('an apply that failed', () => {
  const STDOUT = `aws_vpc.main: Modifying... [id=vpc-1]
aws_vpc.main: Modifications complete after 2s [id=vpc-1]
aws_instance.web: Destroying... [id=i-1]
aws_instance.web: Destruction complete after 41s
aws_instance.web: Creating...
`
  const framed = (address: string) => `╷
│ Warning: Deprecated
│ 
│   with aws_vpc.main,
│   on main.tf line 1, in resource "aws_vpc" "main":
╵
╷
│ Error: creating EC2 Instance: InsufficientCapacity
│ 
│   with ${address},
│   on main.tf line 10, in resource "aws_instance" "web":
│   10: resource "aws_instance" "web" {
│ 
│ Try again later.
╵
`
  it('is told in part: warnings are no errors', () => {
    const report = applyFacts(ran(1, STDOUT, framed('aws_instance.web')), PLANNED)
    expect(report).toMatchObject({
      status: 'Partial',
      summary: { total_resources: 5, created: 0, updated: 1, destroyed: 1, failed: 3 },
    })
    expect(report.resource_changes).toMatchObject([
      {
        resource_name: 'module.net["eu, west"].each["a: b"]',
        action: 'no_change',
        status: 'failed',
        error_message: null,
      },
      { resource_name: 'main', action: 'updated', status: 'success', error_message: null },
      { resource_name: 'web', action: 'destroyed', status: 'success', error_message: null },
      { resource_name: 'web', action: 'created', status: 'failed' },
      { resource_name: 'old[0]', action: 'no_change', status: 'failed' },
    ])
    const message = report.resource_changes[3]?.error_message
    expect(message).toMatch(/^Error: creating EC2 Instance: InsufficientCapacity\n/)
    expect(message).toContain('Try again later.')
    expect(message).not.toContain('│')
    expect(report.execution_summary).toBe('The plan was applied in part: 0 created, 1 updated, 1 destroyed, 3 failed.')
  })

  it('a replacement that creates first destroys the object put aside', () => {
    const stdout =
      'aws_instance.web: Creating...\naws_instance.web: Creation complete after 1s [id=i-2]\n' +
      'aws_instance.web (deposed object 0a1b): Destroying... [id=i-1]\n'
    const planned = [change('aws_instance.web', 'replace')]
    expect(entries(ran(1, stdout), planned)).toEqual([
      ['aws_instance', 'web', 'no_change', 'failed'],
      ['aws_instance', 'web', 'created', 'success'],
    ])
    const through = `${stdout}aws_instance.web (deposed object 0a1b): Destruction complete after 1s\n`
    expect(applyFacts(ran(1, through), planned).summary).toMatchObject({ created: 1, destroyed: 1, failed: 0 })
  })

  it('a check after the creation makes it fail although the object is there', () => {
    const stdout = 'aws_x.a: Creating...\naws_x.a: Creation complete after 0s [id=1]\n'
    const stderr =
      '\nError: Resource postcondition failed\n\n  on main.tf line 3, in resource "aws_x" "a":\n' +
      '   3: condition = false\n\nNot good.\n'
    const report = applyFacts(ran(1, stdout, stderr), [change('aws_x.a'), change('module.m.aws_x.b')])
    expect(report).toMatchObject({ status: 'Partial', summary: { created: 1, failed: 2 } })
    expect(report.resource_changes[0]).toMatchObject({
      action: 'created',
      status: 'failed',
      details: 'Created. An error followed.',
    })
    expect(report.resource_changes[0]?.error_message).toContain('Not good.')
  })

  it('an error that names no resource is told in the summary', () => {
    const report = applyFacts(
      ran(1, '', '\nError: No valid credential sources found\n\nPlease see the documentation.\n'),
      [change('aws_x.a')],
    )
    expect(report.status).toBe('Failed')
    expect(report.execution_summary).toBe(
      'The apply failed, and the engine tells of no change that it completed. Error: No valid credential sources found ' +
        'Please see the documentation.',
    )
  })

  it('never claims that nothing was changed where the engine had begun', () => {
    const begun = applyFacts(ran(1, 'aws_x.a: Creating...\n', 'Error: timeout while waiting'), [change('aws_x.a')])
    expect(begun).toMatchObject({ status: 'Failed', resource_changes: [{ details: 'The creation failed.' }] })
    expect(begun.execution_summary).toMatch(/^The apply failed, and the engine tells of no change that it completed\./)
  })

  it('lines about what was not planned count for nothing', () => {
    const stdout = 'aws_iam_role.admin: Creation complete after 0s [id=x]\n'
    expect(applyFacts(ran(1, stdout), [change('aws_x.a')])).toMatchObject({
      summary: { total_resources: 1, created: 0, failed: 1 },
      status: 'Failed',
    })
  })

  it.each([
    ['Error: Saved plan is stale', 'the state moved after the plan was made'],
    ['│ Error: Saved plan is stale', 'the state moved after the plan was made'],
    ['Error: Error acquiring the state lock', 'could not lock the state'],
  ])('says what "%s" means', (stderr, words) => {
    const report = applyFacts(ran(1, '', `\n${stderr}\n\nThe given plan file can no longer be applied.\n`), PLANNED)
    expect(report).toMatchObject({ status: 'Failed', summary: { created: 0, updated: 0, destroyed: 0, failed: 5 } })
    expect(report.execution_summary).toContain(words)
  })
})

describe('the report that is stored', () => {
  const facts = applyFacts(ran(0, CLEAN), PLANNED)
  const told = {
    ...facts,
    execution_summary: 'All done.',
    resource_changes: [
      {
        resource_type: 'aws_vpc',
        resource_name: 'aws_vpc.main',
        action: 'updated',
        status: 'failed',
        details: 'DNS is on now.',
        error_message: 'no',
      },
      {
        resource_type: '',
        resource_name: 'module.net["eu, west"].aws_subnet.each["a: b"]',
        action: 'created',
        status: 'success',
        details: 'A subnet.',
        error_message: null,
      },
      {
        resource_type: 'aws_iam_role',
        resource_name: 'admin',
        action: 'created',
        status: 'success',
        details: 'Invented.',
        error_message: null,
      },
    ] as typeof facts.resource_changes,
    recommendations: ['Rotate hunter2-secret.', ' '],
  }

  it('takes the words of the model and nothing else, masked', () => {
    const report = settleApplyReport(told, facts, createMasker(['hunter2-secret']))
    expect(report.execution_summary).toBe('All done.')
    expect(report.summary).toEqual(facts.summary)
    expect(report.resource_changes.map(({ details }) => details)).toEqual([
      'A subnet.',
      'DNS is on now.',
      'Destroyed.',
      'Created.',
      'Destroyed.',
    ])
    expect(report.resource_changes[1]).toMatchObject({ status: 'success', error_message: null })
    expect(report.recommendations).toEqual(['Rotate (sensitive value).'])
  })

  it('puts the facts first when the model tells another story', () => {
    for (const other of [
      { ...told, status: 'Partial' as const },
      { ...told, summary: { ...told.summary, destroyed: 0 } },
    ])
      expect(settleApplyReport(other, facts, createMasker([])).execution_summary).toBe(
        'The plan was applied: 2 created, 1 updated, 2 destroyed. All done.',
      )
  })

  it('is whole without a model', () => {
    expect(settleApplyReport(null, facts, createMasker([]))).toEqual(facts)
  })
})

describe('what a plan does in the state alone', () => {
  const inState = [
    { address: 'aws_x.kept', action: 'forget' as const },
    { address: 'aws_x.new', action: 'move' as const, previous_address: 'aws_x.old' },
  ]
  it.each([
    ['is counted when the apply went well', ran(0, CLEAN), 'success', { moved: 1, forgotten: 1 }],
    ['is not known after an apply that failed', ran(1, '', 'Error: broken'), 'unknown', {}],
    ['is not done by a stale plan', ran(1, '', 'Error: Saved plan is stale'), 'failed', {}],
    ['is not known where nothing is', { kind: 'unknown' as const, reason: 'it was interrupted.' }, 'unknown', {}],
  ])('%s', (_, result, status, counts) => {
    const { summary, state_changes } = applyFacts(result, PLANNED, inState)
    expect(state_changes).toMatchObject([
      { name: 'aws_x.kept', action: 'forget', status },
      { name: 'aws_x.new', action: 'move', previous_name: 'aws_x.old', status },
    ])
    const { total_resources, created, updated, destroyed, failed, ...others } = summary
    expect(others).toEqual(counts)
    expect(total_resources).toBe(
      applyFacts(result, PLANNED).summary.total_resources + (result.kind === 'unknown' ? 0 : 2),
    )
  })
})
