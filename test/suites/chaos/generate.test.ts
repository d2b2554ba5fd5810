import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { leftOfPlan } from '../modes/apply-world.ts'
import { ADDED, accept, done, findings, MAIN, operations, report, targets, write } from '../modes/scripts.ts'
import { oneEdit } from './model.ts'
import { type Chaos, commitsOn, endingsOf, type Phases, roundsIn, sessionFolder, startChaos, taken } from './world.ts'

let chaos: Chaos
beforeEach(async () => {
  chaos = await startChaos({
    status: { text: 'One sentence.' },
    requests_filter: accept,
    construct_information: { args: { templates: [], abbreviations: [] } },
    task_complete: oneEdit(write('second.tf', ADDED), done('Added a second greeting.')),
    generate_engine_targets: targets('terraform_data.second'),
    report_decomposed_task_operations: operations([]),
    generate_engine_plan_report: report(),
    report_compliance_findings: findings(),
  })
})
afterEach(() => chaos.close())

const PHASES: Phases = {
  // The audit runs beside the round that waits for its report.
  chains: ['requests_filter', 'task_complete', 'generate_engine_plan_report'],
  command: 'plan',
  table: 'saved_plans',
}

it.each(
  endingsOf(PHASES),
)('a worker that is %s with generate rounds in every phase: another one ends them all', async (_, signal, phases) => {
  const { stack } = chaos
  const repositories = new Map<string, string>()
  for (let number = roundsIn(phases); number > 0; number--) {
    const repo_uri = await stack.repository({ 'main.tf': MAIN })
    repositories.set(await chaos.open({ repo_uri, query: 'Add a second greeting' }), repo_uri)
  }
  for (const session of await chaos.interrupt([...repositories.keys()], phases, signal)) {
    const repo_uri = repositories.get(session.uuid) ?? ''
    expect(session).toMatchObject({
      ...taken(signal),
      message: 'GENERATE',
      artifacts: ['change', 'plan', 'plan', 'report', 'check'],
    })
    expect(session.statuses).toEqual([
      'filtering',
      'generating',
      'validating',
      'validating',
      'validating',
      'report',
      'completed',
    ])
    expect(await commitsOn(stack, repo_uri, session.branch)).toBe(1)
    expect(await stack.git(repo_uri, 'show', `${session.branch}:second.tf`)).toBe(ADDED)
    expect(await leftOfPlan(stack, session.uuid)).toEqual({ directory: true, plans: 1 })
    expect(readdirSync(sessionFolder(stack, session.uuid))).toEqual(['saved-plan'])
  }
})
