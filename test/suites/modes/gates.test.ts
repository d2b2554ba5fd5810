import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { textsOf } from './artifacts.ts'
import { findings, GATES, goodLlm, THIRD } from './scripts.ts'
import { firstRound, nextRound, planPath, runGenerate, startStack, withChanges } from './stack.ts'

const stack = startOnce(startStack)

it('begins the report with the check that did not run', async () => {
  const { session } = await runGenerate(stack, { report_intent_statements: { error: new Error('down') } })
  const [told] = await textsOf(stack, session.uuid, 'report')
  expect(JSON.parse(told ?? '').potential_impact.summary).toBe(
    'The plan was not checked against the request: the model made no statements of it.',
  )
})

describe('the gates', () => {
  it.each([
    [['error'], true],
    [['warning', 'critical'], true],
    [['warning', 'info'], false],
  ])('findings %j lock: %s', async (severities, locked) => {
    const scripts = { report_compliance_findings: findings(...severities) }
    const { session } = await runGenerate(stack, scripts, { orchestration: GATES })
    expect(session).toMatchObject({ is_blocked: locked, in_flight: false })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(existsSync(planPath(stack, session.uuid))).toBe(true)
    expect(await textsOf(stack, session.uuid, 'check')).toHaveLength(1)
  })

  it('a high impact that only the plan knows of locks, and a later round unlocks', async () => {
    const destroyed = {
      address: 'aws_db_instance.main',
      mode: 'managed',
      type: 'aws_db_instance',
      name: 'main',
      change: { actions: ['delete'], before: { id: 'db' }, after: null },
    }
    const first = await firstRound(stack, withChanges(stack.context(goodLlm(), { orchestration: GATES }), destroyed))
    expect(first).toMatchObject({ is_blocked: true })
    const [told] = await textsOf(stack, first.uuid, 'report')
    expect(JSON.parse(told ?? '').potential_impact.banner).toMatchObject({ level: 'high', title: 'Small change' })

    const later = stack.context(goodLlm(THIRD), { orchestration: GATES })
    const second = await nextRound(stack, later, first.uuid, 'Keep the database')
    expect(second).toMatchObject({ is_blocked: false })
  })

  describe('a model that deletes a database and shortens the retention of a log, and hides both', () => {
    const change = (address: string, actions: string[], before: object, after: object | null) => {
      const [type = '', name] = address.split('.')
      return { ...{ address, type, name, mode: 'managed' }, change: { actions, before, after } }
    }
    const [database, log] = ['aws_db_instance.orders', 'aws_cloudwatch_log_group.audit']
    const harm = [
      change(database, ['delete'], { id: 'orders', backup_retention_period: 35 }, null),
      change(log, ['update'], { id: 'audit', retention_in_days: 365 }, { id: 'audit', retention_in_days: 1 }),
    ]
    const kept = [{ kind: 'no_deletions', text: 'Nothing is lost', words: 'Add' }]

    it.each([
      ['and says nothing of the request', []],
      ['against what the request says', kept],
    ])('is told on and locked: %s', async (_, statements) => {
      const llm = goodLlm({ report_intent_statements: { args: { statements } } })
      const context = withChanges(stack.context(llm, { orchestration: GATES }), ...harm)
      const session = await firstRound(stack, context)
      expect(session).toMatchObject({ is_blocked: true, in_flight: false })
      const [told] = await textsOf(stack, session.uuid, 'report')
      const { summary, detailed_changes, potential_impact } = JSON.parse(told ?? '')
      expect(summary).toEqual({ create: 1, update: 1, delete: 1, recreate: 0 })
      expect(detailed_changes).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ name: database, action: 'delete' }),
          expect.objectContaining({ name: log, action: 'update' }),
        ]),
      )
      expect(potential_impact.banner).toMatchObject({ level: 'high', description: expect.stringContaining(database) })
      const [check] = await textsOf(stack, session.uuid, 'check')
      for (const address of [database, log]) expect(check).toContain(address)
      if (statements.length === 0) return
      for (const text of [potential_impact.summary, session.history[0]?.assistant])
        expect(text.split('\n', 1)[0]).toContain(`delete ${database}`)
    })
  })
})
