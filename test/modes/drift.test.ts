import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { IacClient } from '../../src/sidecar-clients/iac/types.ts'
import { said, scriptedLlm } from '../steps/scripted-llm.ts'
import { artifactsOf } from './artifacts.ts'
import {
  CODE,
  code,
  decompose,
  driftedRepository,
  driftReport,
  driftReportOf,
  driftScripts,
  excepting,
  FAREWELL,
  GREETING,
  remediated,
  takeOver,
} from './drift-world.ts'
import { ADDED, decline, done, GATES, goodRound, operations, report, targets, write } from './scripts.ts'
import { engineBeside, firstRound, nextRound, pinnedPath, type Stack, startStack } from './stack.ts'

let stack: Stack
/** Rounds change branches, never the state: one repository serves most of them. */
let drifted: string
beforeAll(async () => {
  stack = await startStack()
  drifted = await driftedRepository(stack)
})
afterAll(() => stack.close())

const ASSESSING = 'Assessing drift on the targeted infrastructure.'
const IN_SYNC = 'No drift found; the targeted infrastructure is synchronized.'
const EXCEPTED = 'Drift check completed; the remaining differences are covered by the drift exception rules.'

const full = { mode: 'drift', query: 'Mend all drift' } as const
const partial = { mode: 'drift', query: 'Mend the greeting', is_partial: true } as const
const fileOn = (repo_uri: string, branch: string) => stack.git(repo_uri, 'show', `${branch}:main.tf`)
const targetsOf = async (uuid: string) =>
  (
    await stack.database.sql<{ targets: string[] }[]>`
      SELECT targets FROM engine_plans JOIN rounds ON rounds.id = round_id JOIN sessions ON sessions.id = session_id
      WHERE uuid = ${uuid} ORDER BY engine_plans.id`
  ).map(({ targets }) => targets)

/** The real engine's client with a list of what it was asked. */
function watched(): { iac: IacClient; jobs: [string, unknown][] } {
  const { iac } = stack.context(scriptedLlm({}))
  const jobs: [string, unknown][] = []
  const run: IacClient['run'] = (kind, body, options) => {
    jobs.push([kind, 'targets' in body ? body.targets : undefined])
    return iac.run(kind, body, options)
  }
  return { iac: { ...iac, run }, jobs }
}

describe('full drift', () => {
  it('is found, brought into the code and gone from the plan', async () => {
    const llm = scriptedLlm(driftScripts())
    const { iac, jobs } = watched()
    const session = await firstRound(stack, stack.context(llm, { iac, orchestration: GATES }), { repo_uri: drifted, ...full })
    expect(session.failures).toEqual([])
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
    expect(session.messages.slice(1)).toEqual([
      'One sentence.',
      ASSESSING,
      'One sentence.',
      'One sentence.',
      ASSESSING,
      IN_SYNC,
      'One sentence.',
      'DRIFT',
    ])
    expect(session).toMatchObject({ in_flight: false, is_blocked: false })
    expect(await fileOn(drifted, session.branch)).toBe(code('hello by hand', 'goodbye by hand'))
    expect(session.history).toEqual([{ user: `update resource ${FAREWELL}\nupdate resource ${GREETING}`, assistant: 'Took both over.' }])
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
      new Set(['status', 'construct_information', 'report_decomposed_task_operations', 'task_complete', 'generate_engine_drift_report']),
    )
    expect(existsSync(pinnedPath(stack, session.uuid))).toBe(false)
  })

  it('stores its artifacts: drift, change, plan and a report whose facts are computed', async () => {
    const session = await firstRound(stack, stack.context(scriptedLlm(driftScripts())), { repo_uri: drifted, ...full })
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
      summary: '2 resources differed: 2 remediated, 0 left, 0 expected to differ by the exception rules. All differences were looked at.',
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
    const repo_uri = await stack.repository({ 'main.tf': CODE })
    await (await engineBeside(stack, repo_uri)).apply()
    const llm = scriptedLlm(driftScripts())
    const session = await firstRound(stack, stack.context(llm), { repo_uri, ...full, query: ' ' })
    expect(session.failures).toEqual([])
    expect(session.statuses).toEqual(['started', 'filtering', 'validating', 'validating', 'report', 'completed'])
    expect(session.messages).toEqual(expect.arrayContaining([ASSESSING, IN_SYNC, 'DRIFT']))
    expect(await driftReportOf(stack, session.uuid)).toEqual({
      summary: 'No drift was found: the code describes the infrastructure as it is.',
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
      return JSON.stringify({ ...rest, resources: resources.filter(({ name }: { name: string }) => name !== 'farewell') })
    })
    const llm = scriptedLlm(
      driftScripts({ task_complete: [write('main.tf', CODE.slice(0, CODE.indexOf('resource', 1))), done('Removed the farewell.')] }),
    )
    const session = await firstRound(stack, stack.context(llm), { repo_uri, ...full })
    expect(session.history).toEqual([{ user: `delete resource ${FAREWELL}`, assistant: 'Removed the farewell.' }])
    const document = await driftReportOf(stack, session.uuid)
    expect(document).toMatchObject({ status: 'Succeeded', unreconciled_drift: [] })
    expect(document.remediated_resources.map(({ resource_address }) => resource_address)).toEqual([FAREWELL])
  })
})

describe('partial drift', () => {
  it('is looked for where the request says, and nowhere else', async () => {
    const llm = scriptedLlm(driftScripts({ task_complete: [takeOver('hello'), done('Took the greeting over.')] }))
    const { iac, jobs } = watched()
    const session = await firstRound(stack, stack.context(llm, { iac }), { repo_uri: drifted, ...partial })
    expect(session.failures).toEqual([])
    expect(session.messages.at(-1)).toBe('DRIFT')
    expect(await fileOn(drifted, session.branch)).toBe(code('hello by hand', 'goodbye'))
    expect(jobs.filter(([kind]) => kind === 'plan')).toEqual([
      ['plan', [GREETING]],
      ['plan', [GREETING]],
    ])
    expect(await targetsOf(session.uuid)).toEqual([[GREETING], [GREETING]])
    const document = await driftReportOf(stack, session.uuid)
    expect(document.remediated_resources.map(({ resource_address }) => resource_address)).toEqual([GREETING])
    expect(document.status).toBe('Succeeded')
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
    ['is declined by the filter', { requests_filter: decline('New buckets are not drift.') }, 'New buckets are not drift.'],
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
    const llm = scriptedLlm(driftScripts(changes))
    const { iac, jobs } = watched()
    const session = await firstRound(stack, stack.context(llm, { iac }), { repo_uri: drifted, ...partial })
    expect(session.failures).toEqual([])
    expect(session.statuses).toEqual(['started', 'filtering', 'uncompleted'])
    expect(session.messages.at(-1)).toBe(explanation)
    expect(session.history).toEqual([{ user: 'Mend the greeting', assistant: explanation }])
    expect(await artifactsOf(stack, session.uuid)).toEqual([])
    expect(llm.of('construct_information')).toEqual([])
    expect(jobs).toEqual([])
    expect(session.in_flight).toBe(false)
  })

  it('of an address that does not exist is not called in sync', async () => {
    const llm = scriptedLlm(driftScripts({ generate_engine_targets: targets('terraform_data.imagined') }))
    const session = await firstRound(stack, stack.context(llm), { repo_uri: drifted, ...partial })
    expect(session.messages).not.toContain(IN_SYNC)
    expect(session.messages.at(-1)).toBe('DRIFT')
    const document = await driftReportOf(stack, session.uuid)
    expect(document.status).toBe('Failed')
    expect(document.unreconciled_drift).toMatchObject([{ resource_address: '', reason: 'The drift could not be read.' }])
    expect(document.unreconciled_drift[0]?.details.join()).toContain('terraform_data.imagined')
  })
})

describe('drift exceptions', () => {
  it('that cover everything leave the code alone', async () => {
    const filter = decompose(undefined, () => operations([], `${GREETING} and ${FAREWELL}: rotated by hand`))
    const llm = scriptedLlm(driftScripts({ report_decomposed_task_operations: filter }))
    const session = await firstRound(stack, stack.context(llm), { repo_uri: drifted, ...full })
    expect(session.messages).toContain(EXCEPTED)
    expect(session.messages).not.toContain(IN_SYNC)
    expect(llm.of('task_complete')).toEqual([])
    expect(await driftReportOf(stack, session.uuid)).toMatchObject({
      summary: expect.stringContaining('2 resources differed: 0 remediated, 0 left, 2 expected to differ'),
      status: 'Succeeded',
      remediated_resources: [],
      unreconciled_drift: [],
      whitelisted_exceptions: [
        {
          resource_address: FAREWELL,
          change: 'input: "goodbye" in the code, "goodbye by hand" in the infrastructure',
          rule: `${GREETING} and ${FAREWELL}: rotated by hand`,
        },
        { resource_address: GREETING },
      ],
    })
    expect(said(llm.of('generate_engine_drift_report')[0])).toContain('whitelisted exceptions')
    expect(said(llm.of('generate_engine_drift_report')[0])).not.toContain('unreconciled drift')
  })

  it('that cover a part: the rest is mended and the round succeeds', async () => {
    const llm = scriptedLlm(
      driftScripts({
        report_decomposed_task_operations: excepting(FAREWELL, 'farewells are set by hand'),
        task_complete: [takeOver('hello'), done('Took the greeting over.')],
      }),
    )
    const session = await firstRound(stack, stack.context(llm), { repo_uri: drifted, ...full })
    expect(session.messages).toContain(EXCEPTED)
    expect(await fileOn(drifted, session.branch)).toBe(code('hello by hand', 'goodbye'))
    const document = await driftReportOf(stack, session.uuid)
    expect(document).toMatchObject({ status: 'Succeeded', unreconciled_drift: [] })
    expect(document.remediated_resources.map(({ resource_address }) => resource_address)).toEqual([GREETING])
    expect(document.whitelisted_exceptions).toMatchObject([{ resource_address: FAREWELL, rule: `${FAREWELL}: farewells are set by hand` }])
  })

  it.each([
    ['mended in the last iteration', [takeOver('hello'), done('Took it over.')], 'Succeeded', []],
    ['not mended', [done('Did nothing.')], 'Failed', [GREETING]],
  ])('are told apart from drift that was %s', async (_, task_complete, status, left) => {
    const llm = scriptedLlm(
      driftScripts({ report_decomposed_task_operations: excepting(FAREWELL, 'farewells are set by hand'), task_complete }),
    )
    const context = stack.context(llm, { orchestration: { max_drift_reports: 1 } })
    const session = await firstRound(stack, context, { repo_uri: drifted, ...full })
    expect(session.messages.at(-1)).toBe('DRIFT')
    const document = await driftReportOf(stack, session.uuid)
    expect(document.status).toBe(status)
    expect(document.unreconciled_drift.map(({ resource_address }) => resource_address)).toEqual(left)
    expect(document.whitelisted_exceptions.map(({ resource_address }) => resource_address)).toEqual([FAREWELL])
  })
})

describe('drift that stays', () => {
  const issues = 'Drift resolution completed but issues remain: '

  it.each([
    [1, 'Partial', [takeOver('hello'), done('Took the greeting over.')], [GREETING], [FAREWELL]],
    [2, 'Failed', [done('Did nothing.')], [], [FAREWELL, GREETING]],
  ])('after %i iterations is reported: %s', async (max_drift_reports, status, task_complete, mended, left) => {
    const llm = scriptedLlm(driftScripts({ task_complete }))
    const context = stack.context(llm, { orchestration: { max_drift_reports } })
    const session = await firstRound(stack, context, { repo_uri: drifted, ...full })
    expect(session.failures).toEqual([])
    expect(session.messages.at(-1)).toBe('DRIFT')
    expect(session.messages.filter((message) => message === ASSESSING)).toHaveLength(max_drift_reports)
    expect(llm.of('status').map((request) => said(request))).toContainEqual(expect.stringContaining(issues))
    const document = await driftReportOf(stack, session.uuid)
    expect(document.status).toBe(status)
    expect(document.remediated_resources.map(({ resource_address }) => resource_address)).toEqual(mended)
    expect(document.unreconciled_drift.map(({ resource_address }) => resource_address)).toEqual(left)
    expect(document.unreconciled_drift[0]).toMatchObject({
      reason: 'The last plan still shows this difference.',
      details: ['input: "goodbye" in the code, "goodbye by hand" in the infrastructure'],
    })
    // The model called it a success, so its words are not repeated.
    expect(document.summary).not.toContain('All differences were looked at.')
    expect(said(llm.of('generate_engine_drift_report')[0])).toContain('goodbye by hand')
  })

  it('is not looked for without iterations, and the report says so', async () => {
    const llm = scriptedLlm(driftScripts())
    const { iac, jobs } = watched()
    const context = stack.context(llm, { iac, orchestration: { max_drift_reports: 0 } })
    const session = await firstRound(stack, context, { repo_uri: drifted, ...full })
    expect(session.statuses).toEqual(['started', 'filtering', 'report', 'completed'])
    expect(jobs).toEqual([])
    expect(await driftReportOf(stack, session.uuid)).toMatchObject({
      status: 'Failed',
      remediated_resources: [],
      unreconciled_drift: [{ resource_address: '', details: [expect.stringContaining('max_drift_reports')] }],
    })
  })
})

describe('a plan that fails', () => {
  it.each([
    ['code that is broken', { 'main.tf': 'resource "terraform_data" {\n' }, 'Missing name for resource'],
    ['code that is not valid', { 'main.tf': 'resource "terraform_data" "a" {\n  nonsense = 1\n}\n' }, 'nonsense'],
  ])('because of %s is reported, not the end of the session', async (_, files, words) => {
    const repo_uri = await stack.repository(files)
    const llm = scriptedLlm(driftScripts())
    const session = await firstRound(stack, stack.context(llm), { repo_uri, ...full })
    expect(session.failures).toEqual([])
    expect(session.statuses).toEqual(['started', 'filtering', 'validating', 'report', 'completed'])
    const document = await driftReportOf(stack, session.uuid)
    expect(document).toMatchObject({ status: 'Failed', remediated_resources: [], whitelisted_exceptions: [] })
    expect(document.unreconciled_drift).toMatchObject([{ resource_address: '', reason: 'The drift could not be read.' }])
    expect(document.unreconciled_drift[0]?.details.join()).toContain(words)
    expect(said(llm.of('generate_engine_drift_report')[0])).toContain(words)
    expect(llm.of('task_complete')).toEqual([])
    const again = await nextRound(stack, stack.context(scriptedLlm(driftScripts())), session.uuid, 'Try again', { mode: 'drift' })
    expect(again.statuses.at(-1)).toBe('completed')
  })
})

describe('rounds of one session', () => {
  it('see what earlier ones mended; a report tells its own round only', async () => {
    const first = await firstRound(stack, stack.context(scriptedLlm(driftScripts())), { repo_uri: drifted, ...full })
    const second = await nextRound(stack, stack.context(scriptedLlm(driftScripts())), first.uuid, 'Look again', { mode: 'drift' })
    expect(second.failures).toEqual([])
    expect(second.messages).toEqual(expect.arrayContaining([IN_SYNC, 'DRIFT']))
    expect(await driftReportOf(stack, first.uuid)).toMatchObject({
      summary: 'No drift was found: the code describes the infrastructure as it is.',
      remediated_resources: [],
    })
    expect(second.history).toEqual(first.history)
  })

  it('leave lock and pin of a generate session as they are', async () => {
    const repo_uri = await driftedRepository(stack)
    const generating = scriptedLlm(
      goodRound({ generate_engine_targets: targets('terraform_data.second'), generate_engine_plan_report: report('high') }),
    )
    const first = await firstRound(stack, stack.context(generating, { orchestration: GATES }), { repo_uri })
    expect(first).toMatchObject({ is_blocked: true, failures: [] })
    const pinned = readFileSync(join(pinnedPath(stack, first.uuid), 'session.plan'))

    const llm = scriptedLlm(driftScripts({ task_complete: [takeOver('hello'), done('Took the greeting over.')] }))
    const context = stack.context(llm, { orchestration: GATES })
    const second = await nextRound(stack, context, first.uuid, 'Mend the greeting', { mode: 'drift', is_partial: true })
    expect(second.failures).toEqual([])
    expect(second).toMatchObject({ is_blocked: true, in_flight: false })
    expect(second.messages.at(-1)).toBe('GENERATE')
    expect(readFileSync(join(pinnedPath(stack, first.uuid), 'session.plan'))).toEqual(pinned)
    expect(llm.of('report_compliance_findings')).toEqual([])
    expect((await artifactsOf(stack, first.uuid)).filter(({ kind }) => kind === 'check')).toHaveLength(1)
    expect(await fileOn(repo_uri, second.branch)).toBe(code('hello by hand', 'goodbye'))
    expect(await stack.git(repo_uri, 'show', `${second.branch}:second.tf`)).toBe(ADDED)
    expect((await driftReportOf(stack, first.uuid)).remediated_resources.map(({ resource_address }) => resource_address)).toEqual([
      GREETING,
    ])
    expect(said(llm.of('requests_filter')[0])).toContain('Added a second greeting.')
  })
})

describe('sensitive values', () => {
  it('of code and infrastructure reach neither models nor anything that is kept', async () => {
    const [known, foreign] = ['S3cret-Passw0rd!', 'Rotated-by-hand-9!']
    const files = {
      'main.tf': `variable "password" {\n  type      = string\n  sensitive = true\n  default   = "${known}"\n}\nresource "terraform_data" "login" {\n  input = { password = var.password, note = "one" }\n}\n`,
    }
    const repo_uri = await driftedRepository(stack, files, (state) => state.replaceAll(known, foreign).replaceAll('"one"', '"two"'))
    const leak = `The password is ${known}, then ${foreign}.`
    const llm = scriptedLlm(
      driftScripts({
        report_decomposed_task_operations: decompose(() => operations([`Set terraform_data.login to ${foreign}`])),
        task_complete: [takeNote, done(leak)],
        generate_engine_drift_report: driftReport({
          summary: leak,
          status: 'Failed',
          unreconciled_drift: [{ resource_address: 'terraform_data.login', reason: leak, details: [leak] }],
        }),
      }),
    )
    const context = stack.context(llm, { orchestration: { max_drift_reports: 1 } })
    const session = await firstRound(stack, context, { repo_uri, ...full })
    expect(session.failures).toEqual([])
    const document = await driftReportOf(stack, session.uuid)
    expect(document.unreconciled_drift.map(({ resource_address }) => resource_address)).toEqual(['terraform_data.login'])
    expect(document.summary).toContain('(sensitive value)')
    const kept = JSON.stringify([await artifactsOf(stack, session.uuid), session.history, session.messages, llm.requests])
    for (const secret of [known, foreign]) expect(kept).not.toContain(secret)
    expect(kept).toContain('(sensitive value)')
  })
})

const takeNote = {
  calls: [
    ['replace_in_file', { target_file: 'main.tf', diff: '<<<<<<< SEARCH\nnote = "one"\n=======\nnote = "two"\n>>>>>>> REPLACE' }],
  ] as [string, Record<string, unknown>][],
}
