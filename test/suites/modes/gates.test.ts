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
})
