import { expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { applyReports, applyRound } from './apply-world.ts'
import { documentsOf, textsOf } from './artifacts.ts'
import { done, GATES, goodLlm, operations, SPLIT, targets, write } from './scripts.ts'
import { appliedRepository, firstRound, startStack } from './stack.ts'

const stack = startOnce(startStack)

const LEDGER = 'resource "terraform_data" "ledger" {\n  input = "rows"\n}\n'
const WEB = 'resource "terraform_data" "web" {\n  input = "x"\n}\n'
const FORGET = 'removed {\n  from = terraform_data.ledger\n  lifecycle {\n    destroy = false\n  }\n}\n'
const MOVE = `${LEDGER.replace('ledger', 'journal')}moved {\n  from = terraform_data.ledger\n  to   = terraform_data.journal\n}\n`
const ZERO = { create: 0, update: 0, delete: 0, recreate: 0 }

it.each([
  [
    'forget',
    FORGET,
    { name: 'terraform_data.ledger', action: 'forget', summary: 'Is no longer managed; the object stays.' },
    { forgotten: 1, words: 'In the state: 1 forgotten.', fate: 'It is no longer managed; the object stays.' },
  ],
  [
    'move',
    MOVE,
    {
      name: 'terraform_data.journal',
      action: 'move',
      previous_name: 'terraform_data.ledger',
      summary: 'Keeps its object, at another address.',
    },
    { moved: 1, words: 'In the state: 1 moved.', fate: 'Its object has this address now.' },
  ],
])('a plan that only does a %s is counted and listed by the report of plan and apply', async (action, code, change, after) => {
  const repo_uri = await appliedRepository(stack, { 'main.tf': WEB + LEDGER })
  const llm = goodLlm({
    task_complete: [write('main.tf', WEB + code), done('Done.')],
    generate_engine_targets: targets('terraform_data.ledger', 'terraform_data.journal'),
    generate_engine_apply_report: { error: new Error('down') },
    report_intent_statements: { args: { statements: [] } },
    [SPLIT]: operations([]),
  })
  const context = { ...stack.context(llm, { orchestration: GATES }), mayLogErrors: true }
  const session = await firstRound(stack, context, { repo_uri, query: 'Do it.' })
  expect(session.is_blocked).toBe(false)
  const [report] = (await textsOf(stack, session.uuid, 'report')).map((text) => JSON.parse(text))
  expect(report).toMatchObject({
    summary: { ...ZERO, [action]: 1 },
    detailed_changes: [],
    state_changes: [change],
  })
  expect(
    report.potential_impact.summary.startsWith('Stays as it is, but is no longer managed: terraform_data.ledger.'),
  ).toBe(action === 'forget')
  const [check] = (await textsOf(stack, session.uuid, 'check')).map((text) => JSON.parse(text))
  expect(check.summary).not.toContain('The plan changes no resource')
  expect((await documentsOf(stack, session.uuid))[0]).toMatchObject({ summary: { [action]: 1 } })

  const applied = await applyRound(stack, context, session.uuid)
  expect(applied.statuses.at(-1)).toBe('completed')
  const { words, fate, ...counts } = after
  const [told] = await applyReports(stack, session.uuid)
  expect(told).toMatchObject({
    status: 'Success',
    summary: { total_resources: 1, created: 0, updated: 0, destroyed: 0, failed: 0, ...counts },
    execution_summary: `The plan was applied: 0 created, 0 updated, 0 destroyed. ${words}`,
    resource_changes: [],
    state_changes: [{ name: change.name, action, status: 'success', summary: fate }],
  })
  expect(applied.history.at(-1)?.assistant).toContain(words)
})
