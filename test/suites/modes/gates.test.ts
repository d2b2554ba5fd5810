import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { textsOf } from './artifacts.ts'
import { ADDED, done, findings, GATES, goodLlm, goodRound, write } from './scripts.ts'
import { firstRound, nextRound, planPath, runGenerate, startStack } from './stack.ts'

const stack = startOnce(startStack)

describe('the gates', () => {
  it.each([
    [['error'], true],
    [['warning', 'critical'], true],
    [['warning', 'info'], false],
  ])('findings %j lock: %s', async (severities, locked) => {
    const { session } = await runGenerate(
      stack,
      { report_compliance_findings: findings(...severities) },
      { orchestration: GATES },
    )
    expect(session).toMatchObject({ is_blocked: locked, in_flight: false })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(existsSync(planPath(stack, session.uuid))).toBe(true)
    expect(await textsOf(stack, session.uuid, 'check')).toHaveLength(1)
  })

  it('a high impact that only the plan knows of locks, and a later round unlocks', async () => {
    const { iac } = stack.context(scriptedLlm({}))
    const destroyed = {
      address: 'aws_db_instance.main',
      mode: 'managed',
      type: 'aws_db_instance',
      name: 'main',
      change: { actions: ['delete'], before: { id: 'db' }, after: null },
    }
    /** No provider is available offline, so the engine's plan gets one more entry. */
    const withDatabase: typeof iac = {
      ...iac,
      run: async (kind, body, options) => {
        const result = await iac.run(kind, body, options)
        if (kind !== 'show') return result
        const plan = JSON.parse(result.stdout)
        return {
          ...result,
          stdout: JSON.stringify({ ...plan, resource_changes: [...plan.resource_changes, destroyed] }),
        }
      },
    }
    const context = stack.context(goodLlm(), { iac: withDatabase, orchestration: GATES })
    const first = await firstRound(stack, context)
    expect(first).toMatchObject({ is_blocked: true })
    const [told] = await textsOf(stack, first.uuid, 'report')
    expect(JSON.parse(told ?? '').potential_impact.banner).toMatchObject({ level: 'high', title: 'Small change' })

    const later = goodRound({ task_complete: [write('third.tf', ADDED.replace('second', 'third')), done('Third.')] })
    const second = await nextRound(
      stack,
      stack.context(scriptedLlm(later), { orchestration: GATES }),
      first.uuid,
      'Keep the database',
    )
    expect(second).toMatchObject({ is_blocked: false })
  })
})
