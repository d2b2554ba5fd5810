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
    expect(session.workspace.branch).toMatch(/^Platform\/\d{4}-\d\d-\d\d_\d{6}/)
    expect(session.history).toEqual([{ user: 'Add a bucket for logs', assistant: 'Wrote the bucket.' }])
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
    expect(audits.every((call) => call.text.includes('The very first words') && call.text.includes('Plan text'))).toBe(
      true,
    )
    expect(world.model.of('generate_engine_plan_report').map(({ model }) => model)).toEqual([
      'main-model',
      'main-model',
    ])
    expect(world.model.calls.every(({ parameters }) => parameters.max_tokens === 32_000)).toBe(true)
    expect(
      world.model.calls
        .filter(({ tools }) => tools.length > 0)
        .every(({ parameters }) => parameters.tool_choice === 'auto'),
    ).toBe(true)
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

  it('that is declined ends uncompleted with the answer and touches nothing', async () => {
    world.model.on.requests_filter = () => ({ status: false, explanation: 'This is no infrastructure.' })
    const session = await world.first('generate')
    expect(course(session.rounds[0])).toEqual(['started', 'filtering', 'uncompleted'])
    expect(lastMessage(session)).toBe('This is no infrastructure.')
    expect(session.history).toEqual([{ user: 'Add a bucket for logs', assistant: 'This is no infrastructure.' }])
    expect(world.sidecar.submissions).toEqual([])
    expect(session.rounds[0]).toMatchObject({ reports: [], plans: [], code_changes: [], compliance_checks: [] })
  })

  it('plans with the targets that the model named, and counts them to the plan artifact', async () => {
    world.model.on.generate_engine_targets = () => ({ targets: ['aws_s3_bucket.logs'], explanation: 'changed' })
    world.sidecar.plan = CREATED
    const session = await world.first('generate')
    expect(lastMessage(session)).toBe('GENERATE')
    expect(world.sidecar.kinds().slice(0, 4)).toEqual(['init', 'validate', 'plan', 'show'])
    expect(world.sidecar.of('plan')[0]?.body.targets).toEqual(['aws_s3_bucket.logs'])
    // The whole root beside the targets goes to a file of its own, so that the reviewed plan stays.
    expect(world.sidecar.of('plan').filter(({ body }) => body.plan_file === 'session.plan')).toHaveLength(1)
    expect(session.rounds[0]?.plans.at(0)?.targets).toEqual(['aws_s3_bucket.logs'])
    expect(keysOf(await document(session.rounds[0]?.reports[0])).sort()).toEqual(keysOf(GENERATE_REPORT).sort())
  })

  it('stays completed when the plan of the whole root beside the targets fails', async () => {
    world.model.on.generate_engine_targets = () => ({ targets: ['aws_s3_bucket.logs'] })
    world.sidecar.script = ({ kind, number }) =>
      kind === 'plan' && number > 1 ? { fault: 500, detail: 'broken' } : undefined
    expect(lastMessage(await world.first('generate'))).toBe('GENERATE')
  })

  it('gives the engine’s words to the next attempt', async () => {
    world.sidecar.script = ({ kind, number }) =>
      kind === 'plan' && number === 1
        ? { exit_code: 1, stdout: 'Half a plan', stderr: 'Error: Unsupported argument' }
        : undefined
    const session = await world.first('generate')
    expect(lastMessage(session)).toBe('GENERATE')
    expect(world.sidecar.kinds()).toEqual(['init', 'validate', 'plan', 'validate', 'plan', 'show'])
    const asked = world.model.of('task_complete').filter(({ messages }) => messages.at(-1)?.role === 'user')
    expect(asked[1]?.messages.at(-1)?.content).toContain('Unsupported argument')
    expect(await text(session.rounds[0]?.plans[0])).toBe('Half a plan')
    expect(session.history).toEqual([{ user: 'Add a bucket for logs', assistant: 'Wrote the bucket.' }])
  })

  it('initialises again when the engine asks for it', async () => {
    world.sidecar.script = ({ kind, number }) =>
      kind === 'validate' && number === 1 ? { exit_code: 1, stderr: 'Error: x\nplease run "tofu init"' } : undefined
    await world.first('generate')
    world.sidecar.script = () => undefined
    expect(world.sidecar.kinds().slice(0, 3)).toEqual(['init', 'validate', 'validate'])
  })

  it.each([
    ['plan', 'Error: no credentials'],
    ['plan', 'Error: Invalid provider configuration'],
    ['plan', 'Something went wrong'],
    ['plan', ''],
    ['validate', 'Error: Unsupported block type'],
    ['init', 'Error: Failed to install modules'],
  ] as const)('whose %s always fails with "%s" ends after the attempts of the configuration', async (failing, stderr) => {
    world.sidecar.script = ({ kind }) => (kind === failing ? { exit_code: 1, stderr } : undefined)
    const session = await world.first('generate')
    expect(lastMessage(session)).toBe('runner failed: Validation loop exceeded.')
    expect(world.sidecar.of(failing)).toHaveLength(3)
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
    ['no JSON', { stdout: 'oops' }, ''],
    ['a fault 500', { fault: 500, detail: 'the service broke' }, 'the service broke'],
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

  it('reads a plan of which only address and change are told', async () => {
    world.sidecar.plan = {
      format_version: '1.0',
      resource_changes: [
        { address: 'module.a.aws_s3_bucket.logs["x"]', change: { actions: ['create'], before: null, after: {} } },
      ],
    }
    const session = await world.first('generate')
    expect(lastMessage(session)).toBe('GENERATE')
    expect(await document(session.rounds[0]?.reports[0])).toMatchObject({
      summary: { create: 1, update: 0, delete: 0, recreate: 0 },
    })
  })

  it('on an iac_path that is no directory of the repository fails with the text of the contract', async () => {
    const session = await world.first('generate', { iac_path: 'no/such' })
    expect(lastMessage(session)).toBe("runner failed: iac_path 'no/such' is not a directory inside the repository")
    expect(world.sidecar.submissions).toEqual([])
  })

  it('works in the directory of its iac_path', async () => {
    const repo_uri = await world.repository({ 'live/main.tf': '# nothing\n' })
    const overrides: boolean[] = []
    world.sidecar.script = ({ kind, body }) => {
      if (kind === 'init') overrides.push(existsSync(join(body.workspace_path, 'backend_override.tf')))
      return undefined
    }
    const session = await world.first('generate', { repo_uri, iac_path: 'live' })
    expect(overrides).toEqual([true])
    expect(lastMessage(session)).toBe('GENERATE')
    expect(world.sidecar.submissions.every(({ body }) => body.workspace_path.endsWith('/live'))).toBe(true)
    expect(session.rounds[0]?.code_changes[0]?.file_name).toMatch(/logs\.tf$/)
  })

  it.each([
    [{ status: 500, error: 'down' }, /^runner failed: Inference call to .* failed: /],
    [{ finish: 'length', text: 'half' }, /^runner failed: UnhandledInferenceFinishReason/],
    [{ finish: 'content_filter', text: '' }, /^runner failed: UnhandledInferenceFinishReason/],
  ])('whose model answers the filter with %j fails with the text of the contract', async (reply, words) => {
    world.model.on.requests_filter = () => reply
    const session = await world.first('generate')
    expect(lastMessage(session)).toMatch(words)
    if ('status' in reply) expect(world.model.of('requests_filter')).toHaveLength(4)
  })

  it.each(['tool_use', 'end_turn', 'stop'])('takes a sentinel with finish reason %s', async (finish) => {
    world.model.on.requests_filter = ({ number }) => (number === 1 ? { finish, text: 'Let me think.' } : undefined)
    expect(lastMessage(await world.first('generate'))).toBe('GENERATE')
    expect(world.model.of('requests_filter')[1]?.messages.at(-1)?.content).toContain('`requests_filter`')
  })
})

describe('the drift pre-check of a generate round', () => {
  const UPDATED = planOf(
    change('aws_s3_bucket.logs', ['update'], { before: { tags: { a: '1' } }, after: { tags: { a: '2' } } }),
  )

  it('leaves the session’s own changes alone', async () => {
    world.sidecar.plan = UPDATED
    world.model.on.report_decomposed_task_operations = ({ tools, model }) =>
      tools.includes('diff_history') && model === 'small-model'
        ? { operations: [], explanation: 'all of the session' }
        : undefined
    const session = await world.first('generate')
    expect(lastMessage(session)).toBe('GENERATE')
    const messages = session.rounds[0]?.statuses.map(({ message }) => message)
    expect(messages).toContain('Assessing drift on the targeted infrastructure.')
    expect(messages).toContain("Drift check completed; the remaining differences are this session's own changes.")
    expect(
      [world.model.decomposed('splitter'), world.model.decomposed('reconciliation')].map(({ length }) => length),
    ).toEqual([1, 1])
    expect(world.model.decomposed('sole')).toEqual([])
    expect(world.sidecar.kinds()).toEqual(['init', 'validate', 'plan', 'show'])
    expect(await metadata(session.rounds[0]?.plans[1])).toEqual({ type: 'drift' })
  })

  it('mends foreign changes twice at most, and goes on', async () => {
    world.sidecar.plan = UPDATED
    const session = await world.first('generate')
    expect(lastMessage(session)).toBe('GENERATE')
    expect(world.model.decomposed('splitter')).toHaveLength(2)
    expect(
      session.rounds[0]?.statuses.filter(
        ({ message }) => message === 'Assessing drift on the targeted infrastructure.',
      ),
    ).toHaveLength(2)
    expect(world.sidecar.of('plan')).toHaveLength(3)
    const [splitter, report] = [world.model.decomposed('splitter')[0], world.model.of('generate_engine_plan_report')[0]]
    expect([splitter?.model, report?.model]).toEqual(['main-model', 'main-model'])
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

  it('does not lock what is ordinary', async () => {
    world.sidecar.plan = planOf(
      change('aws_s3_bucket.logs', ['create'], { after: { bucket: 'logs' } }),
      change('aws_instance.web', ['create'], { after: { ami: 'ami-1', instance_type: 't3.micro' } }),
      change('aws_vpc.main', ['create'], { after: { cidr_block: '10.0.0.0/16' } }),
      change(
        'aws_db_instance.db',
        ['create'],
        { after: { engine: 'postgres', password: 'hunter2hunter2' } },
        { after_sensitive: { password: true } },
      ),
      change('aws_security_group.web', ['create'], {
        after: { ingress: [{ from_port: 443, to_port: 443, protocol: 'tcp', cidr_blocks: ['10.0.0.0/8'] }] },
      }),
    )
    const session = await world.first('generate')
    expect([lastMessage(session), session.is_blocked]).toEqual(['GENERATE', false])
    expect(world.model.calls.some((call) => call.text.includes('hunter2'))).toBe(false)
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
    await world.call('PATCH', `/admin/sessions/${uuid}/toggle_lock`, { locked: false })
    expect((await world.call('PUT', '/repository/pr/merge', { session_id: uuid })).status).toBe(204)
    const { rounds } = await world.session(uuid)
    expect(rounds[0]?.pull_requests).toMatchObject([{ provider: 'GITHUB', number: 1 }])
    expect(workspace.branch).toMatch(/^Platform\//)
  })
})

describe('the gates', () => {
  const finding = (severity: string) => ({
    violations: [
      {
        rule_id: 'scope_exceeded',
        severity,
        resource: 'aws_s3_bucket.logs',
        message: 'Too much.',
        suggested_fix: null,
      },
    ],
    summary: 'Found something.',
    checked_rules: ['scope_exceeded'],
  })
  const banner = (level: string) => ({
    ...GENERATE_REPORT,
    potential_impact: {
      ...GENERATE_REPORT.potential_impact,
      banner: { level, title: 'Much happens', description: 'A lot.' },
    },
  })

  it.each([
    ['error', 'low', true, ['iac.compliance.failed']],
    ['critical', 'low', true, ['iac.compliance.failed']],
    ['warning', 'medium', false, []],
    ['info', 'high', true, ['iac.impact.high']],
    ['error', 'high', true, ['iac.compliance.failed', 'iac.impact.high']],
  ])('with a finding %s and a banner %s: locked %s, notifications %j', async (severity, level, locked, kinds) => {
    world.model.on.report_compliance_findings = () => finding(severity)
    world.model.on.generate_engine_plan_report = () => banner(level)
    const session = await world.first('generate')
    expect(lastMessage(session)).toBe('GENERATE')
    expect(session.is_blocked).toBe(locked)
    expect(session.rounds[0]?.compliance_checks).toMatchObject([{ passed: !['error', 'critical'].includes(severity) }])
    expect(await document(session.rounds[0]?.compliance_checks[0])).toMatchObject({
      violations: [finding(severity).violations[0]],
    })
    const received = world.notifications.received.toSorted((a, b) => a.kind.localeCompare(b.kind))
    expect(received.map(({ kind }) => kind)).toEqual(kinds)
    for (const { kind, subject, severity: graded, body, context } of received) {
      expect(graded).toBe('warning')
      const title = kind === 'iac.impact.high' ? 'High impact changes' : 'Compliance check failed'
      expect(subject).toBe(`${title} – session ${session.uuid}`)
      if (kind === 'iac.compliance.failed') expect(body).toBe('Found something.')
      else expect(body).toContain('Much happens')
      expect(context).toMatchObject({
        session_id: session.uuid,
        cloud: 'aws',
        project: '123456789012',
        operation: 'generate',
      })
    }
  })

  it('unlock by a later round that passes; refuse apply and merge while locked', async () => {
    world.model.on.report_compliance_findings = () => finding('critical')
    const { uuid } = await world.first('generate')
    const refused = await world.call('POST', '/iac/apply', { session_id: uuid })
    expect([refused.status, await refused.json()]).toEqual([
      409,
      { detail: `Session ${uuid} is blocked; apply is not allowed.` },
    ])
    const merge = await world.call('PUT', '/repository/pr/merge', { session_id: uuid })
    expect([merge.status, await merge.json()]).toEqual([
      409,
      { detail: `Session ${uuid} is blocked; PR merge is not allowed.` },
    ])
    world.model.on = {}
    expect(await world.run('generate', { session_id: uuid, q: 'Less of it' })).toMatchObject({ is_blocked: false })
  })

  it('do not fail a round when the notifications sidecar refuses or says nothing', async () => {
    world.model.on.report_compliance_findings = () => finding('error')
    for (const answer of [500, 'nothing'] as const) {
      world.notifications.answer = answer
      const session = await world.first('generate')
      expect([lastMessage(session), session.is_blocked]).toEqual(['GENERATE', true])
    }
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
    expect(course(round)).toEqual(
      ['started', 'apply', 'report', 'completed'].filter((status) => course(round).includes(status)),
    )
    expect(course(round)).toEqual(expect.arrayContaining(['apply', 'report', 'completed']))
    expect(round?.statuses.find(({ status }) => status === 'apply')?.message).toBe('Applying infrastructure changes.')
    expect(lastMessage(session)).toBe('GENERATE')
    expect(Object.keys(await document(round?.reports[0])).sort()).toEqual(
      ['execution_summary', 'recommendations', 'resource_changes', 'status', 'summary'].sort(),
    )
    expect(session.history?.at(-1)?.user).toBe('Engine apply.')
    expect(existsSync(pinned)).toBe(false)
    world.sidecar.submissions = []
    const again = await world.run('apply', { session_id: uuid })
    expect(lastMessage(again)).toBe(
      'runner failed: No reviewed plan is pinned for this session; run a generate round before applying.',
    )
    expect(world.sidecar.submissions).toEqual([])
  })

  it('that the engine fails completes with a report and a notification', async () => {
    world.sidecar.plan = CREATED
    const { uuid } = await world.first('generate')
    world.sidecar.script = ({ kind }) =>
      kind === 'apply' ? { exit_code: 1, stderr: 'Error: quota exceeded' } : undefined
    const session = await world.run('apply', { session_id: uuid })
    expect(lastMessage(session)).toBe('GENERATE')
    expect(session.rounds[1]?.reports.map(({ type }) => type)).toEqual(['apply'])
    expect(world.notifications.received).toMatchObject([
      {
        kind: 'iac.apply.failure',
        severity: 'error',
        subject: `Infrastructure deployment failure – session ${uuid}`,
        body: 'Error: quota exceeded',
      },
    ])
  })

  it.each([
    ['a fault 500', { fault: 500, detail: 'the service broke' }, 'the service broke'],
    [
      'a fault 503',
      { fault: 503, detail: 'Service shut down before the job finished.' },
      'Service shut down before the job finished.',
    ],
    ['a lost job', 'lost' as const, 'was lost'],
  ])('that meets %s fails, is not repeated and leaves nothing pinned', async (_, outcome, words) => {
    const { uuid } = await world.first('generate')
    world.sidecar.script = ({ kind }) => (kind === 'apply' ? outcome : undefined)
    const session = await world.run('apply', { session_id: uuid })
    expect(session.current_status).toBe('failed')
    expect(lastMessage(session)).toContain(words)
    expect(world.sidecar.of('apply')).toHaveLength(1)
    expect((await world.notified(1)).map(({ kind }) => kind)).toEqual(['system.exception.failure'])
    expect(existsSync(join(world.upload_folder, uuid, 'saved-plan', 'session.plan'))).toBe(false)
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

  it('takes the plan of the last generate round, also after a drift round', async () => {
    const { uuid } = await world.first('generate')
    await world.run('drift', { session_id: uuid, q: 'Any drift?' })
    world.sidecar.submissions = []
    expect(lastMessage(await world.run('apply', { session_id: uuid }))).toBe('GENERATE')
    expect(world.sidecar.kinds()).toEqual(['apply'])
  })
})
