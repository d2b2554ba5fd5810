import { describe, expect, it } from 'vitest'
import { MASK } from '../../../src/base/masking.ts'
import type { InferenceRequest } from '../../../src/llm/inference.ts'
import { startOnce } from '../../helpers/start-once.ts'
import type { Reply } from '../../pipeline/steps/scripted-llm.ts'
import { done, GATES, goodLlm, goodRound, operations, report, SPLIT, targets, write } from './scripts.ts'
import { appliedRepository, nextRound, runFirst, startStack } from './stack.ts'

const stack = startOnce(startStack)

const SECRET = 'a-secret-that-nobody-may-see'
const ledger = (days: number, password = SECRET) => `variable "password" {
  type      = string
  sensitive = true
  default   = "${password}"
}

resource "terraform_data" "ledger" {
  input = {
    days     = ${days}
    password = var.password
  }
}

resource "terraform_data" "web" {
  input = "pages"
}
`
const moved = ledger(9).replaceAll('"web"', '"site"')
const MOVE = 'moved {\n  from = terraform_data.web\n  to   = terraform_data.site\n}\n'
const WARNING = {
  rule_id: 'cost',
  severity: 'warning',
  resource: 'terraform_data.ledger',
  message: 'Longer retention costs more',
  suggested_fix: 'Keep 4 days.',
}
const audit: Reply = { args: { violations: [WARNING], summary: 'Audited.', checked_rules: ['cost'] } }
const look = (about?: string): Reply => ({ calls: [['last_plan', about === undefined ? {} : { about }]] })
const UNMET = {
  ...{ kind: 'resource_count', type: 'terraform_data', action: 'create', op: 'eq', value: 1 },
  ...{ text: 'An alarm is created', words: 'an alarm' },
}

const toolsOf = (request: InferenceRequest | undefined) => request?.tools?.map(({ name }) => name)
/** Returns the answers to the calls of tools in a request. */
const answersIn = (request: InferenceRequest | undefined) =>
  (request?.messages ?? []).flatMap((message) => (message.role === 'tool' ? [message.content] : []))
const queryIn = (request: InferenceRequest | undefined) =>
  String(request?.messages.findLast(({ role }) => role === 'user')?.content)

/** Runs a first round that changes the ledger in place, moves the web, and leaves an alarm and a finding. */
async function firstRounds() {
  const repo_uri = await appliedRepository(stack, { 'main.tf': ledger(4) })
  const scripts = goodRound({
    task_complete: [write('main.tf', moved + MOVE), done('The ledger keeps 9 days.'), done('There is no alarm.')],
    [SPLIT]: operations([]),
    report_intent_statements: { args: { statements: [UNMET] } },
    report_compliance_findings: audit,
    generate_engine_plan_report: report('low', 'Unknown cost.'),
  })
  const request = { query: 'Keep the ledger for 9 days, call web site, and add an alarm.', repo_uri }
  return await runFirst(stack, scripts, { orchestration: GATES, request })
}

/** Runs a round whose author looks up the plan with each of these arguments, then adds a resource. */
async function followUp(uuid: string, ...abouts: (string | undefined)[]) {
  const llm = goodLlm({
    task_complete: [
      ...abouts.map(look),
      write('third.tf', 'resource "terraform_data" "third" {\n}\n'),
      done('Added a third.'),
    ],
    [SPLIT]: operations([]),
  })
  const context = stack.context(llm, { orchestration: GATES })
  const session = await nextRound(stack, context, uuid, 'Nothing may be updated in place.')
  expect(session.statuses.at(-1)).toBe('completed')
  return llm.of('task_complete')
}

describe('the last plan of a session', () => {
  it('is offered to a follow-up alone, which reads it as a whole and resource by resource', async () => {
    const { llm, session } = await firstRounds()
    const [first] = llm.of('task_complete')
    expect(toolsOf(first)).not.toContain('last_plan')
    expect(queryIn(first)).not.toContain('last_plan')

    const abouts = [undefined, 'terraform_data.ledger', 'terraform_data.web', 'cost', 'terraform_data.none']
    const requests = await followUp(session.uuid, ...abouts)
    expect(toolsOf(requests[0])).toContain('last_plan')
    expect(queryIn(requests[0])).toContain(
      '`last_plan` shows what the plan of round 1 does, what its review found, and attributes by address.',
    )
    const [overview, ofLedger, ofWeb, ofRule, ofNone] = answersIn(requests.at(-1))
    expect(overview).toBe(`The plan of round 1 (generate). It was not applied.

0 to create, 1 to update, 0 to delete, 0 to recreate, 1 to move; planned with the targets terraform_data.ledger, terraform_data.web, terraform_data.site.

Report: impact low. Small change. One more greeting. Unknown cost.

What the report begins with:
- The plan does not show all that the request asks for. Expected: An alarm is created. Found: 0 terraform_data to create.

Unmet:
- Expected: An alarm is created. Found: 0 terraform_data to create.

Changes:
- update terraform_data.ledger
- move terraform_data.site, which was terraform_data.web

The audit passed. Findings:
- warning cost at terraform_data.ledger: Longer retention costs more. Keep 4 days.`)
    expect(ofLedger).toContain(`update terraform_data.ledger:
- input.days: 4 -> 9`)
    expect(ofLedger).toContain('Findings:\n- warning cost at terraform_data.ledger')
    expect(ofLedger).not.toContain('terraform_data.site')
    expect(ofWeb).toContain('move terraform_data.site, which was terraform_data.web: no attribute differs.')
    expect(ofRule).toContain('update terraform_data.ledger:')
    expect(ofNone).toContain('It has nothing about "terraform_data.none"')
    expect(JSON.stringify(requests)).not.toContain(SECRET)
  })

  it('says which later round has applied it', async () => {
    const { session } = await firstRounds()
    const applying = stack.context(
      goodLlm({
        generate_engine_apply_report: { args: { summary: {}, status: 'Success', execution_summary: 'Applied.' } },
      }),
      { orchestration: GATES },
    )
    const applied = await nextRound(stack, applying, session.uuid, 'apply', { mode: 'apply' })
    expect(applied.statuses.at(-1)).toBe('completed')
    const [overview] = answersIn((await followUp(session.uuid, undefined)).at(-1))
    expect(overview).toMatch(
      /^The plan of round 1 \(generate\)\. Round 2 applied it: Success\. The plan was applied: 0 created, 1 updated, /,
    )
  })

  it('never shows a value that was hidden', async () => {
    const repo_uri = await appliedRepository(stack, { 'main.tf': ledger(4) })
    const scripts = goodRound({
      task_complete: [
        write('other.tf', 'resource "terraform_data" "other" {\n  input = var.password\n}\n'),
        done('Yes.'),
      ],
      generate_engine_targets: targets('terraform_data.other'),
      [SPLIT]: operations([]),
    })
    const { session } = await runFirst(stack, scripts, { request: { query: 'Copy it.', repo_uri } })
    const [answer] = answersIn((await followUp(session.uuid, 'terraform_data.other')).at(-1))
    expect(answer).toContain(`- input: null -> "${MASK}" (sensitive)`)
  })
})
