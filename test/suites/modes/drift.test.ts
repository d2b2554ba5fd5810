import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { artifactsOf } from './artifacts.ts'
import {
  ASSESSING,
  CODE,
  code,
  decompose,
  driftedRepository,
  driftReport,
  driftReportOf,
  FAREWELL,
  fileOn,
  full,
  GREETING,
  IN_SYNC,
  remediated,
  replace,
  runDrift,
  startDriftedStack,
  takeOver,
} from './drift-world.ts'
import { decline, done, GATES, operations, targets, write } from './scripts.ts'
import { appliedRepository, planPath, watched } from './stack.ts'

const stack = startOnce(startDriftedStack)

const targetsOf = async (uuid: string) =>
  (
    await stack.database.sql<{ targets: string[] }[]>`
      SELECT targets FROM engine_plans JOIN rounds ON rounds.id = round_id JOIN sessions ON sessions.id = session_id
      WHERE uuid = ${uuid} ORDER BY engine_plans.id`
  ).map(({ targets }) => targets)

describe('full drift', () => {
  it('is found, brought into the code and gone from the plan', async () => {
    const { iac, jobs } = watched(stack)
    const { llm, session } = await runDrift(stack, {}, { iac, orchestration: GATES })
    expect(session.statuses).toEqual([
      'started',
      'filtering',
      'validating',
      'generating',
      'validating',
      'validating',
      'validating',
      'report',
      'completed',
    ])
    // A row does not wait for its sentence, so a first row that is followed at once may show the request.
    expect(['One sentence.', full.query]).toContain(session.messages[1])
    expect(session.messages.slice(2)).toEqual([
      ASSESSING,
      'One sentence.',
      'Waiting for infrastructure as code to be validated.',
      ASSESSING,
      IN_SYNC,
      'Infrastructure successfully validated. Generating report',
      'DRIFT',
    ])
    expect(session).toMatchObject({ in_flight: false, is_blocked: false })
    expect(await fileOn(stack, stack.drifted, session.branch)).toBe(code('hello by hand', 'goodbye by hand'))
    expect(session.history).toEqual([{ user: full.query, assistant: 'Took both over.' }])
    expect(jobs).toEqual([
      ['init', undefined],
      ['validate', undefined],
      ['plan', []],
      ['show', undefined],
      ['validate', undefined],
      ['plan', []],
      ['show', undefined],
    ])
    expect(new Set(llm.requests.map(({ chain }) => chain))).toEqual(
      new Set(['status', 'report_decomposed_task_operations', 'task_complete', 'generate_engine_drift_report']),
    )
    expect(existsSync(planPath(stack, session.uuid))).toBe(false)
  })

  it('stores its artifacts: drift, change, plan and a report whose facts are computed', async () => {
    // Without a model for sentences the messages are the platform's own.
    const { session } = await runDrift(stack, { status: { error: new Error('busy') } })
    expect(session.messages.slice(1)).toEqual([
      'Mend all drift',
      ASSESSING,
      `update resource ${FAREWELL}\nupdate resource ${GREETING}`,
      'Waiting for infrastructure as code to be validated.',
      ASSESSING,
      IN_SYNC,
      'Infrastructure successfully validated. Generating report',
      'DRIFT',
    ])
    const artifacts = await artifactsOf(stack, session.uuid)
    expect(artifacts.map(({ kind, type, new_file }) => [kind, type ?? new_file])).toEqual([
      ['plan', 'drift'],
      ['change', 'false'],
      ['plan', 'plan'],
      ['report', null],
    ])
    const change = (old_value: string) => ({ changed: { input: { old_value, new_value: `${old_value} by hand` } } })
    expect(JSON.parse(artifacts[0]?.text ?? '')).toEqual([
      { address: FAREWELL, action: 'update resource', changes: change('goodbye') },
      { address: GREETING, action: 'update resource', changes: change('hello') },
    ])
    expect(artifacts[2]?.text).toContain('No changes.')
    expect(await targetsOf(session.uuid)).toEqual([[], []])
    expect(await driftReportOf(stack, session.uuid)).toEqual({
      summary:
        '2 resources differed: 2 remediated, 0 left, 0 expected to differ by the exception rules. All ' +
        'differences were looked at.',
      status: 'Succeeded',
      remediated_resources: [
        { ...remediated(FAREWELL), file_path: 'main.tf' },
        { ...remediated(GREETING), file_path: 'main.tf' },
      ],
      unreconciled_drift: [],
      whitelisted_exceptions: [],
    })
  })

  it('that is not there is told as such, whatever the model says; the request is not needed', async () => {
    const repo_uri = await appliedRepository(stack, { 'main.tf': CODE })
    const { session } = await runDrift(stack, {}, { request: { repo_uri, ...full, query: ' ' } })
    expect(session.statuses).toEqual(['started', 'filtering', 'validating', 'validating', 'report', 'completed'])
    expect(session.messages).toEqual(expect.arrayContaining([ASSESSING, IN_SYNC, 'DRIFT']))
    expect(await driftReportOf(stack, session.uuid)).toEqual({
      summary: 'No drift was found: a plan of the whole root shows no difference.',
      status: 'Succeeded',
      remediated_resources: [],
      unreconciled_drift: [],
      whitelisted_exceptions: [],
    })
    expect(session.history).toEqual([])
    expect(await artifactsOf(stack, session.uuid)).toHaveLength(1)
    expect((await stack.git(repo_uri, 'rev-list', '--count', `main..${session.branch}`)).trim()).toBe('0')
  })

  it('of resources that only one side has is turned round', async () => {
    const repo_uri = await driftedRepository(stack, { 'main.tf': CODE }, (state) => {
      const { resources, ...rest } = JSON.parse(state)
      return JSON.stringify({
        ...rest,
        resources: resources.filter(({ name }: { name: string }) => name !== 'farewell'),
      })
    })
    const task_complete = [write('main.tf', CODE.slice(0, CODE.indexOf('resource', 1))), done('Removed the farewell.')]
    const { session } = await runDrift(stack, { task_complete }, { request: { repo_uri, ...full } })
    expect(session.history).toEqual([{ user: full.query, assistant: 'Removed the farewell.' }])
    const document = await driftReportOf(stack, session.uuid)
    expect(document).toMatchObject({ status: 'Succeeded', unreconciled_drift: [] })
    expect(document.remediated_resources.map(({ resource_address }) => resource_address)).toEqual([FAREWELL])
  })
})

describe('partial drift', () => {
  it('is looked for where the request says, and nowhere else', async () => {
    const { iac, plans } = watched(stack)
    const task_complete = [takeOver('hello'), done('Took the greeting over.')]
    const { llm, session } = await runDrift(stack, { task_complete }, { iac, request: stack.partial })
    expect(session.messages.at(-1)).toBe('DRIFT')
    expect(await fileOn(stack, stack.drifted, session.branch)).toBe(code('hello by hand', 'goodbye'))
    // The last one looks for other parts that the changed code affects.
    expect(plans()).toEqual([[GREETING], [GREETING], []])
    expect(await targetsOf(session.uuid)).toEqual([[GREETING], [GREETING]])
    const document = await driftReportOf(stack, session.uuid)
    expect(document.remediated_resources.map(({ resource_address }) => resource_address)).toEqual([GREETING])
    expect(document.status).toBe('Succeeded')
    expect(document.summary).toMatch(/A plan of the whole root shows 1 more difference, which it left alone/)
    expect(document.summary).toContain(`\n- update ${FAREWELL}: `)
    const told = said(llm.of('generate_engine_drift_report')[0])
    expect(told).toContain('Nothing remains of what was looked at')
    expect(told).not.toContain('Nothing else remains')
    const [filter] = llm.of('requests_filter')
    expect(said(filter)).toContain('The session remediates drift')
    const [targeting] = llm.of('generate_engine_targets')
    expect(targeting?.role).toBe('main')
    expect(targeting?.tools?.map(({ name }) => name)).toEqual([
      'read_file',
      'list_dir',
      'bulk_grep_search',
      'diff_history',
      'generate_engine_targets',
    ])
    expect(said(targeting)).toContain('Targets of a drift request')
    expect(said(targeting)).toMatch(/<<<DATA request (\w+)\\nMend the greeting\\n\1 DATA>>>/)
  })

  it.each([
    [
      'is declined by the filter',
      { requests_filter: decline('New buckets are not drift.') },
      'New buckets are not drift.',
    ],
    [
      'fits nothing in the code',
      { generate_engine_targets: { args: { targets: [], explanation: 'There is no database here.' } } },
      'There is no database here.',
    ],
    [
      'fits nothing, without a word',
      { generate_engine_targets: targets() },
      'Nothing in the code fits this request, so no drift was looked for.',
    ],
  ])('that %s ends uncompleted and is remembered', async (_, changes, explanation) => {
    const { iac, jobs } = watched(stack)
    const { llm, session } = await runDrift(stack, changes, { iac, request: stack.partial })
    expect(session.failures).toEqual([])
    expect(session.statuses).toEqual(['started', 'filtering', 'uncompleted'])
    expect(session.messages.at(-1)).toBe(explanation)
    expect(session.history).toEqual([{ user: 'Mend the greeting', assistant: explanation }])
    expect(await artifactsOf(stack, session.uuid)).toEqual([])
    expect(llm.of('construct_information')).toEqual([])
    // The init beside the filter may have begun.
    expect(jobs.filter(([kind]) => kind !== 'init')).toEqual([])
    expect(session.in_flight).toBe(false)
  })

  it('of an address that does not exist is not called in sync', async () => {
    const imagined = { generate_engine_targets: targets('terraform_data.imagined') }
    const { session } = await runDrift(stack, imagined, { request: stack.partial })
    expect(session.messages).not.toContain(IN_SYNC)
    expect(session.messages.at(-1)).toBe('DRIFT')
    const document = await driftReportOf(stack, session.uuid)
    expect(document.status).toBe('Failed')
    expect(document.unreconciled_drift).toMatchObject([
      { resource_address: '', reason: 'The drift could not be read.' },
    ])
    expect(document.unreconciled_drift[0]?.details.join()).toContain('terraform_data.imagined')
  })
})

it('sensitive values of code and infrastructure reach neither models nor anything that is kept', async () => {
  const [known, foreign] = ['S3cret-Passw0rd!', 'Rotated-by-hand-9!']
  const files = {
    'main.tf':
      `variable "password" {\n  type      = string\n  sensitive = true\n  default   = "${known}"\n}\n` +
      'resource "terraform_data" "login" {\n  input = { password = var.password, note = "one" }\n}\n',
  }
  const repo_uri = await driftedRepository(stack, files, (state) =>
    state.replaceAll(known, foreign).replaceAll('"one"', '"two"'),
  )
  const leak = `The password is ${known}, then ${foreign}.`
  const scripts = {
    report_decomposed_task_operations: decompose(() => operations([`Set terraform_data.login to ${foreign}`])),
    task_complete: [replace('note = "one"', 'note = "two"'), done(leak)],
    generate_engine_drift_report: driftReport({
      summary: leak,
      status: 'Failed',
      unreconciled_drift: [{ resource_address: 'terraform_data.login', reason: leak, details: [leak] }],
    }),
  }
  const changes = { request: { repo_uri, ...full }, orchestration: { max_drift_reports: 1 } }
  const { llm, session } = await runDrift(stack, scripts, changes)
  const document = await driftReportOf(stack, session.uuid)
  expect(document.unreconciled_drift.map(({ resource_address }) => resource_address)).toEqual(['terraform_data.login'])
  expect(document.summary).toContain('(sensitive value)')
  const { history, messages } = session
  const kept = JSON.stringify([await artifactsOf(stack, session.uuid), history, messages, llm.requests])
  for (const secret of [known, foreign]) expect(kept).not.toContain(secret)
  expect(kept).toContain('(sensitive value)')
})

it('a partial round leaves another difference of the same block, and says so', async () => {
  const block = (size: string, color: string) =>
    `resource "terraform_data" "greeting" {\n  input = {\n    size  = "${size}"\n    color = "${color}"\n  }\n}\n`
  const repo_uri = await driftedRepository(stack, { 'main.tf': block('small', 'red') }, (state) =>
    state.replaceAll('"small"', '"large"').replaceAll('"red"', '"blue"'),
  )
  const seen: string[] = []
  const { llm, session } = await runDrift(
    stack,
    {
      generate_engine_targets: targets(GREETING),
      report_decomposed_task_operations: (request) => {
        const text = said(request)
        const isSplitter = request.tools?.some(({ name }) => name === 'web_search')
        if (isSplitter) seen.push(text)
        const asked = `update ${GREETING}: input.size "small" to "large"`
        return operations(seen.length === 1 ? [asked] : [], 'input.color is not asked for.')
      },
      task_complete: [replace('    size  = "small"', '    size  = "large"'), done('Took the size over.')],
    },
    { request: { repo_uri, mode: 'drift', query: 'Take over the size only', is_partial: true } },
  )
  expect(seen).toHaveLength(2)
  expect(seen.every((text) => text.includes('Take over the size only'))).toBe(true)
  expect(llm.of('task_complete')).toHaveLength(2)
  expect(await fileOn(stack, repo_uri, session.branch)).toBe(block('large', 'red'))
  expect(session.messages).toContain('Drift check completed; the request does not ask for the remaining differences.')
  expect(await driftReportOf(stack, session.uuid)).toMatchObject({
    status: 'Succeeded',
    unreconciled_drift: [
      {
        resource_address: GREETING,
        reason: 'The request does not ask for it, so it was left alone.',
        details: ['input.color: "red" in the code, "blue" in the infrastructure'],
      },
    ],
  })
})

it('an exception rule that covers one attribute of a block leaves the other to the round, and both are told', async () => {
  const block = (size: string) =>
    `resource "terraform_data" "greeting" {\n  input = {\n    size  = "${size}"\n    color = "red"\n  }\n}\n`
  const repo_uri = await driftedRepository(stack, { 'main.tf': block('small') }, (state) =>
    state.replaceAll('"small"', '"large"').replaceAll('"red"', '"blue"'),
  )
  const { llm, session } = await runDrift(
    stack,
    {
      report_decomposed_task_operations: decompose(
        (sent) => operations(sent.map((entry) => JSON.stringify(entry))),
        (sent) =>
          operations([...sent.values()].join().includes('input.size') ? ['1.2'] : [], 'Colors are set by hand.'),
      ),
      task_complete: [replace('    size  = "small"', '    size  = "large"'), done('Took the size over.')],
      generate_engine_drift_report: driftReport({ remediated_resources: [remediated(GREETING, 'input.size')] }),
    },
    { request: { repo_uri, ...full } },
  )
  expect(said(llm.of('task_complete')[0])).toContain('(Write only input.size. The code keeps input.color as it is.)')
  expect(await fileOn(stack, repo_uri, session.branch)).toBe(block('large'))
  expect(await driftReportOf(stack, session.uuid)).toMatchObject({
    summary: expect.stringMatching(/^1 resource differed: 1 remediated, 0 left, 1 expected to differ/),
    status: 'Succeeded',
    remediated_resources: [{ resource_address: GREETING, changes: [{ attribute_modified: 'input.size' }] }],
    whitelisted_exceptions: [{ resource_address: GREETING, rule: 'Colors are set by hand.' }],
  })
})
