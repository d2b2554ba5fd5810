import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { unavailable } from '../../../src/base/errors.ts'
import { PlanDocumentSchema } from '../../../src/plan/document/plan-document.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { artifactsOf, documentsOf } from './artifacts.ts'
import { ADDED, decline, GATES, goodLlm, MAIN, THIRD } from './scripts.ts'
import { nextRound, planPath, runGenerate, startStack } from './stack.ts'

const stack = startOnce(startStack)

describe('a generate round', () => {
  it('ends with a reviewed and pinned plan, and stores its artifacts', async () => {
    const { llm, session } = await runGenerate(stack, {}, { orchestration: GATES })
    expect(session.statuses).toEqual([
      'started',
      'filtering',
      'generating',
      'validating',
      'validating',
      'validating',
      'report',
      'completed',
    ])
    // A model is asked for one sentence, about the request. The other texts are code's own.
    expect(llm.of('status')).toHaveLength(1)
    expect(session.messages.slice(-7)).toEqual([
      'One sentence.',
      'One sentence.',
      'Waiting for infrastructure as code to be validated.',
      'Assessing drift on the targeted infrastructure.',
      "Drift check completed; the remaining differences are this session's own changes.",
      'Infrastructure successfully validated. Generating report',
      'GENERATE',
    ])
    expect(session).toMatchObject({ in_flight: false, is_blocked: false })
    expect(session.history).toEqual([{ user: 'Add a second greeting', assistant: 'Added a second greeting.' }])
    expect(await stack.git(session.repo_uri, 'show', `${session.branch}:second.tf`)).toBe(ADDED)
    expect(await stack.git(session.repo_uri, 'log', '-1', '--format=%an %s', session.branch)).toBe(
      'Platform Platform changes\n',
    )
    expect(
      (await stack.git(session.repo_uri, 'ls-tree', '-r', '--name-only', session.branch)).trim().split('\n'),
    ).toEqual(['main.tf', 'second.tf'])
    expect(readdirSync(planPath(stack, session.uuid))).toEqual(
      expect.arrayContaining(['.terraform', 'backend_override.tf', 'main.tf', 'second.tf', 'session.plan']),
    )

    const artifacts = await artifactsOf(stack, session.uuid)
    expect(artifacts.map(({ kind, type, new_file }) => [kind, type ?? new_file])).toEqual([
      ['change', 'true'],
      ['plan', 'plan'],
      ['plan', 'drift'],
      ['report', null],
      ['check', null],
    ])
    const [change, plan, drift, told, check] = artifacts.map(({ text }) => text)
    expect(change).toBe(ADDED)
    expect(plan).toContain('Plan: 1 to add, 0 to change, 0 to destroy.')
    expect(JSON.parse(drift ?? '')).toEqual([])
    expect(JSON.parse(told ?? '')).toMatchObject({
      summary: { create: 1, update: 0, delete: 0, recreate: 0 },
      detailed_changes: [{ name: 'terraform_data.second', action: 'create', summary: 'A second greeting.' }],
    })
    expect(JSON.parse(check ?? '')).toMatchObject({ passed: true, violations: [] })
    const documents = await documentsOf(stack, session.uuid)
    expect(documents).toHaveLength(2)
    expect(documents[1]).toBeNull()
    expect(PlanDocumentSchema.parse(documents[0])).toMatchObject({
      engine: { name: expect.any(String), version: expect.any(String) },
      targets: ['terraform_data.second'],
      checked: { rules: true, outside_targets: true },
      summary: { create: 1, update: 0, replace: 0, delete: 0 },
      resources: [{ address: 'terraform_data.second', action: 'create', is_targeted: true }],
      outside_targets: { made: true },
    })
    const [row] = await stack.database.sql<
      { usage: { engine_s: number; validation_attempts: number; input_tokens: number } }[]
    >`
      SELECT usage FROM rounds JOIN sessions ON sessions.id = session_id WHERE uuid = ${session.uuid}`
    expect(row?.usage).toMatchObject({ validation_attempts: 1 })
    expect(row?.usage.engine_s).toBeGreaterThan(0)
    expect(row?.usage.input_tokens).toBeGreaterThan(0)
  })

  it('works in the engine root that was asked for', async () => {
    const request = { files: { 'live/main.tf': MAIN, 'other/main.tf': 'this is no code' }, iac_path: 'live' }
    const { session } = await runGenerate(stack, {}, { request })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(await stack.git(session.repo_uri, 'show', `${session.branch}:live/second.tf`)).toBe(ADDED)
    expect(existsSync(join(planPath(stack, session.uuid), 'live', 'session.plan'))).toBe(true)
  })

  it.each([
    ['declines', 'This would open the network to everyone: "0.0.0.0/0".'],
    ['answers a question', 'There is one greeting in this repository.'],
  ])('%s without touching anything', async (_, explanation) => {
    const { llm, session } = await runGenerate(
      stack,
      { requests_filter: decline(explanation) },
      { orchestration: GATES, request: { query: 'Tell me' } },
    )
    expect(session.statuses).toEqual(['started', 'filtering', 'uncompleted'])
    expect(session.messages.at(-1)).toBe(explanation)
    expect(session.history).toEqual([{ user: 'Tell me', assistant: explanation }])
    expect(session).toMatchObject({ in_flight: false, is_blocked: false })
    expect(await artifactsOf(stack, session.uuid)).toEqual([])
    expect(existsSync(planPath(stack, session.uuid))).toBe(false)
    expect(llm.of('construct_information')).toEqual([])
  })

  it('goes on with the conversation and the branch of the session', async () => {
    const { session: first } = await runGenerate(stack)
    const plan = readFileSync(join(planPath(stack, first.uuid), 'session.plan'))
    const llm = goodLlm(THIRD)
    const second = await nextRound(stack, stack.context(llm, { orchestration: GATES }), first.uuid, 'And a third one')
    expect(second.statuses.at(-1)).toBe('completed')
    expect(second.history.map(({ assistant }) => assistant)).toEqual([
      'Added a second greeting.',
      'Added a third greeting.',
    ])
    expect(said(llm.of('requests_filter')[0])).toContain('Added a second greeting.')
    const audit = said(llm.of('report_compliance_findings')[0])
    expect(audit).toContain('Add a second greeting')
    expect(audit.indexOf('And a third one')).toBeGreaterThan(audit.indexOf('Add a second greeting'))
    expect((await stack.git(first.repo_uri, 'ls-tree', '--name-only', second.branch)).trim().split('\n')).toEqual([
      'main.tf',
      'second.tf',
      'third.tf',
    ])
    expect(readFileSync(join(planPath(stack, first.uuid), 'session.plan'))).not.toEqual(plan)
  })
})

it('an object store that is down fails the round with a clear text', async () => {
  const { storage } = stack.context(scriptedLlm({}))
  const down = { ...storage, put: async () => Promise.reject(unavailable('The object store cannot be reached.')) }
  const { session } = await runGenerate(stack, {}, { storage: down })
  expect(session.statuses).toEqual(['started', 'filtering', 'generating', 'failed'])
  expect(session.messages.at(-1)).toBe('runner failed: The object store cannot be reached.')
  expect(session.in_flight).toBe(false)
  expect((await stack.git(session.repo_uri, 'rev-list', '--count', `main..${session.branch}`)).trim()).toBe('0')
})
