import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import {
  applyJobs,
  applyLlm,
  applyReports,
  applyRound,
  DISCARDED,
  jobsOf,
  leftOfPlan,
  managedState,
  NOT_SAVED,
  sessionWithPlan,
} from './apply-world.ts'
import { planPath, startStack } from './stack.ts'

const stack = startOnce(startStack)

describe('an apply round', () => {
  it('carries out the pinned plan, once, and tells what the engine did', async () => {
    const llm = applyLlm()
    const context = stack.context(llm)
    const { uuid, repo_uri } = await sessionWithPlan(stack, context)
    const before = jobsOf(stack, uuid)
    expect(await managedState(context, repo_uri)).toEqual([])

    const session = await applyRound(stack, context, uuid)
    expect(session.statuses).toEqual(['started', 'apply', 'report', 'completed'])
    expect(session.messages).toEqual([
      null,
      'Applying infrastructure changes.',
      'Infrastructure changes applied. Generating report',
      'GENERATE',
    ])
    expect(jobsOf(stack, uuid)).toEqual([...before, 'apply'])
    expect(applyJobs(stack, uuid).map(({ workspace_path }) => workspace_path)).toEqual([planPath(stack, uuid)])
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
    expect(await applyReports(stack, uuid)).toEqual([
      {
        summary: { total_resources: 1, created: 1, updated: 0, destroyed: 0, failed: 0 },
        status: 'Success',
        execution_summary: 'The second greeting exists now.',
        resource_changes: [
          {
            resource_type: 'terraform_data',
            resource_name: 'second',
            action: 'created',
            status: 'success',
            details: 'A second greeting.',
            error_message: null,
          },
        ],
        recommendations: [],
      },
    ])
    expect(session.history.at(-1)).toEqual({ user: 'Engine apply.', assistant: 'The second greeting exists now.' })
    expect(said(llm.of('generate_engine_apply_report')[0])).toMatch(
      /The request was:\\n<<<DATA request \w+\\nAdd a second/,
    )
    expect(said(llm.of('generate_engine_apply_report')[0])).toContain(
      'Apply complete! Resources: 1 added, 0 changed, 0 destroyed.',
    )
    expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
    expect(session.in_flight).toBe(false)
  })

  it('fails without a pinned plan: a second time, and after a declined request', async () => {
    const { context, uuid } = await sessionWithPlan(stack)
    await applyRound(stack, context, uuid)
    const second = await applyRound(stack, context, uuid)
    expect(second.statuses).toEqual(['started', 'apply', 'failed'])
    expect(second.messages.at(-1)).toBe(NOT_SAVED)
    expect(applyJobs(stack, uuid)).toHaveLength(1)
  })
})
