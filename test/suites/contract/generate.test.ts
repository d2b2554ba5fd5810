import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GENERATE_REPORT } from './fake-model.ts'
import { change, course, document, keysOf, lastMessage, metadata, planOf, provideWorld, text } from './world.ts'

const world = provideWorld()

const CREATED = planOf(change('aws_s3_bucket.logs', ['create'], { after: { bucket: 'logs' } }))

describe('a generate round', () => {
  it.each([
    ['that writes plan files', true],
    ['that never touches the disk', false],
  ])('against a sidecar %s completes, with the jobs and artifacts of the contract', async (_, touches_disk) => {
    Object.assign(world.sidecar, { touches_disk, plan: CREATED })
    const session = await world.first('generate')
    const round = session.rounds[0]
    expect(lastMessage(session)).toBe('GENERATE')
    expect(course(round)).toEqual(['started', 'filtering', 'generating', 'validating', 'report', 'completed'])
    expect(world.sidecar.kinds()).toEqual(['init', 'validate', 'plan', 'show'])
    // The session wrote all of the code.
    expect(world.sidecar.of('plan')[0]?.body.targets ?? []).toEqual([])
    expect(world.model.of('generate_engine_targets')).toEqual([])
    expect(world.sidecar.submissions.map(({ body }) => body.scope_id)).toEqual([
      '123456789012',
      undefined,
      '123456789012',
      undefined,
    ])
    expect(new Set(world.sidecar.submissions.map(({ body }) => body.plan_file))).toEqual(
      new Set([undefined, 'session.plan']),
    )
    expect(session).toMatchObject({
      is_blocked: false,
      in_flight: false,
      operation: 'generate',
      current_status: 'completed',
    })
    expect(keysOf(await document(round?.reports[0])).sort()).toEqual(keysOf(GENERATE_REPORT).sort())
    expect(round?.reports.map(({ type }) => type)).toEqual(['generate'])
    expect(Object.keys(await document(round?.compliance_checks[0])).sort()).toEqual([
      'checked_rules',
      'passed',
      'summary',
      'violations',
    ])
    expect(round?.compliance_checks).toMatchObject([{ passed: true }])
    expect(await text(round?.plans[0])).toBe('Plan text number 1')
    expect(await metadata(round?.plans[0])).toEqual({ type: 'plan' })
    expect(round?.code_changes).toMatchObject([{ file_name: 'logs.tf' }])
    expect(await metadata(round?.code_changes[0])).toEqual({ new_file: 'true' })
    expect(world.notifications.received).toEqual([])
  })

  it('passes the first request to the auditor, with the small model, and reports with the main one', async () => {
    const session = await world.first('generate', { q: 'The very first words' })
    await world.run('generate', { session_id: session.uuid, q: 'Something else' })
    const audits = world.model.of('report_compliance_findings')
    expect(audits.map(({ model, tools }) => [model, tools])).toEqual(
      Array(2).fill(['small-model', ['report_compliance_findings']]),
    )
    for (const audit of audits)
      for (const part of ['The very first words', 'Plan text']) expect(audit.text).toContain(part)
    expect(world.model.of('generate_engine_plan_report').map(({ model }) => model)).toEqual([
      'main-model',
      'main-model',
    ])
    for (const { parameters, tools } of world.model.calls)
      expect(parameters).toMatchObject({ max_tokens: 32_000, ...(tools.length > 0 && { tool_choice: 'auto' }) })
  })

  it.each([
    'refused',
    'broken',
    'silent',
    'filled',
  ] as const)('is not disturbed by a model to which an unknown chain is %s', async (unknown) => {
    world.model.unknown = unknown
    const session = await world.first('generate')
    expect(lastMessage(session)).toBe('GENERATE')
    expect(world.model.of('task_complete').filter(({ messages }) => messages.at(-1)?.role !== 'tool')).toHaveLength(1)
  })

  it('asks no model for targets that the changed blocks name', async () => {
    world.sidecar.plan = CREATED
    const repo_uri = await world.repository({ 'main.tf': 'resource "aws_s3_bucket" "other" {}\n' })
    const session = await world.first('generate', { repo_uri })
    expect(lastMessage(session)).toBe('GENERATE')
    expect(world.sidecar.of('plan').map(({ body }) => body.targets)).toEqual([['aws_s3_bucket.logs'], []])
    expect(session.rounds[0]?.plans.at(0)?.targets).toEqual(['aws_s3_bucket.logs'])
    expect(world.model.of('generate_engine_targets')).toEqual([])
  })

  it('plans with the targets that the model named, and counts them to the plan artifact', async () => {
    const settings = 'terraform {\n  required_version = ">= 1.0"\n}\n'
    world.model.on.task_complete = ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { status: 'done', summary: 'Wrote the bucket.' }
        : {
            calls: [
              ['write_to_file', { target_file: 'logs.tf', content: `${settings}resource "aws_s3_bucket" "logs" {}\n` }],
            ],
          }
    const repo_uri = await world.repository({ 'main.tf': 'resource "aws_s3_bucket" "other" {}\n' })
    world.model.on.generate_engine_targets = () => ({ targets: ['aws_s3_bucket.logs'], explanation: 'changed' })
    world.sidecar.plan = CREATED
    const session = await world.first('generate', { repo_uri })
    expect(lastMessage(session)).toBe('GENERATE')
    expect(world.sidecar.kinds().slice(0, 4)).toEqual(['init', 'validate', 'plan', 'show'])
    expect(world.sidecar.of('plan')[0]?.body.targets).toEqual(['aws_s3_bucket.logs'])
    // The plan of the whole root goes to a file of its own, which keeps the reviewed plan.
    expect(world.sidecar.of('plan').filter(({ body }) => body.plan_file === 'session.plan')).toHaveLength(1)
    expect(session.rounds[0]?.plans.at(0)?.targets).toEqual(['aws_s3_bucket.logs'])
    expect(keysOf(await document(session.rounds[0]?.reports[0])).sort()).toEqual(keysOf(GENERATE_REPORT).sort())
  })

  it.each([
    ['plan', '', 3],
    // The first one is made before the code is written.
    ['init', 'Error: Failed to install modules', 4],
  ] as const)('whose %s always fails with "%s" ends after the attempts of the configuration', async (failing, stderr, runs) => {
    world.sidecar.script = ({ kind }) => (kind === failing ? { exit_code: 1, stderr } : undefined)
    const session = await world.first('generate')
    expect(lastMessage(session)).toBe('runner failed: Validation loop exceeded.')
    expect(world.sidecar.of(failing)).toHaveLength(runs)
    expect(session.rounds[0]?.statuses.filter(({ status }) => status === 'generating')).toHaveLength(3)
    expect(world.model.of('report_compliance_findings')).toEqual([])
    expect(await world.notified(1)).toMatchObject([
      {
        kind: 'system.exception.failure',
        severity: 'error',
        subject: `System Core exception failure – session ${session.uuid}`,
        body: 'runner failed: Validation loop exceeded.',
      },
    ])
    if (stderr === '') {
      const asked = world.model.of('task_complete').filter(({ messages }) => messages.at(-1)?.role === 'user')
      expect(asked[1]?.messages.at(-1)?.content).toContain('engine plan failed')
    }
  })

  it.each([
    [
      'a plan of another major format',
      { stdout: '{"format_version":"2.0","resource_changes":[]}' },
      'Engine plan json output major format change.',
    ],
    ['a fault 504', { fault: 504, detail: 'the engine took too long' }, 'the engine took too long'],
  ])('whose show gives %s fails', async (_, outcome, words) => {
    world.sidecar.script = ({ kind }) => (kind === 'show' ? outcome : undefined)
    const session = await world.first('generate')
    expect(session.current_status).toBe('failed')
    expect(lastMessage(session)).toMatch(/^runner failed: /)
    expect(lastMessage(session)).toContain(words)
  })

  it('submits a lost job once more', async () => {
    world.sidecar.script = ({ number }) => (number === 1 ? 'lost' : undefined)
    expect(lastMessage(await world.first('generate'))).toBe('GENERATE')
    expect(world.sidecar.kinds()).toEqual(['init', 'init', 'validate', 'validate', 'plan', 'plan', 'show', 'show'])
  })

  it('fails when a job is lost twice, and names it', async () => {
    world.sidecar.script = ({ kind }) => (kind === 'plan' ? 'lost' : undefined)
    const session = await world.first('generate')
    expect(lastMessage(session)).toMatch(/^runner failed: .*[0-9a-f-]{36}/)
    expect(world.sidecar.of('plan')).toHaveLength(2)
  })

  it.each(['tool_use', 'end_turn', 'stop'])('takes a sentinel with finish reason %s', async (finish) => {
    world.model.on.requests_filter = ({ number }) => (number === 1 ? { finish, text: 'Let me think.' } : undefined)
    expect(lastMessage(await world.first('generate'))).toBe('GENERATE')
    expect(world.model.of('requests_filter')[1]?.messages.at(-1)?.content).toContain('`requests_filter`')
  })
})

describe('a model that is brief', () => {
  it('is understood', async () => {
    world.model.with_usage = true
    world.model.on = {
      requests_filter: () => ({ status: true, explanation: '' }),
      construct_information: () => ({
        templates: ['aws-resources-s3_bucket', 's3_bucket', 'no_such'],
        abbreviations: ['s3: bucket'],
      }),
      task_complete: () => ({ status: true, summary: 'Nothing to write.' }),
      generate_engine_targets: () => ({ targets: [] }),
      report_compliance_findings: () => ({ violations: [], summary: '', checked_rules: [] }),
    }
    const session = await world.first('generate')
    expect(lastMessage(session)).toBe('GENERATE')
    expect(world.model.of('construct_information')).toHaveLength(2)
    expect(session.rounds[0]?.code_changes).toEqual([])
  })
})

describe('a pull request', () => {
  it('is opened from the branch of the session, also while it is locked, and merged when it is not', async () => {
    const { uuid, workspace } = await world.first('generate')
    await world.call('PATCH', `/admin/sessions/${uuid}/toggle_lock`, { locked: true })
    const opened = await world.call('PUT', '/repository/pr', { session_id: uuid })
    expect(opened.status).toBe(201)
    expect(await opened.json()).toEqual({ id: 1, url: expect.stringMatching(/^https:/), status: 'open' })
    expect(world.model.of('generate_pull_request').map(({ model, tools }) => [model, tools])).toEqual([
      ['small-model', ['generate_pull_request']],
    ])
    await world.call('PATCH', `/admin/sessions/${uuid}/toggle_lock`, { locked: false, reason: 'checked by hand' })
    expect((await world.call('PUT', '/repository/pr/merge', { session_id: uuid })).status).toBe(204)
    const { rounds } = await world.session(uuid)
    expect(rounds[0]?.pull_requests).toMatchObject([{ provider: 'GITHUB', number: 1 }])
    expect(workspace.branch).toMatch(/^Platform\//)
  })
})

describe('apply', () => {
  it('submits exactly one apply of the pinned plan and nothing else', async () => {
    world.sidecar.plan = CREATED
    const { uuid } = await world.first('generate')
    const pinned = join(world.upload_folder, uuid, 'saved-plan')
    expect(existsSync(join(pinned, 'session.plan'))).toBe(true)
    world.sidecar.submissions = []
    const session = await world.run('apply', { session_id: uuid })
    expect(world.sidecar.submissions).toMatchObject([
      {
        kind: 'apply',
        body: { workspace_path: pinned, plan_file: 'session.plan', scope_id: '123456789012', engine_provider: 'aws' },
      },
    ])
    const round = session.rounds[1]
    expect(round).toMatchObject({ number: 2, query: 'Engine apply.', plans: [], compliance_checks: [] })
    expect(course(round)).toEqual(['started', 'apply', 'report', 'completed'])
    expect(round?.statuses.find(({ status }) => status === 'apply')?.message).toBe('Applying infrastructure changes.')
    expect(lastMessage(session)).toBe('GENERATE')
    expect(Object.keys(await document(round?.reports[0])).sort()).toEqual(
      ['execution_summary', 'recommendations', 'resource_changes', 'status', 'summary'].sort(),
    )
    expect(existsSync(pinned)).toBe(false)
    world.sidecar.submissions = []
    const again = await world.run('apply', { session_id: uuid })
    expect(lastMessage(again)).toBe(
      'runner failed: No reviewed plan is pinned for this session; run a generate round before applying.',
    )
    expect(world.sidecar.submissions).toEqual([])
  })

  it('without a plan file on the disk fails with the text of the contract', async () => {
    world.sidecar.touches_disk = false
    const { uuid } = await world.first('generate')
    const session = await world.run('apply', { session_id: uuid })
    expect(lastMessage(session)).toBe(
      'runner failed: No reviewed plan is pinned for this session; run a generate round before applying.',
    )
    expect(session.rounds[1]?.statuses.map(({ status }) => status)).toEqual(expect.arrayContaining(['apply', 'failed']))
    expect(world.sidecar.of('apply')).toEqual([])
  })
})
