import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { type Reply, said } from '../../pipeline/steps/scripted-llm.ts'
import { readBlocks } from '../../prompts/blocks.ts'
import { textsOf } from './artifacts.ts'
import { done, GATES, goodLlm, goodRound, operations, SPLIT, targets, write } from './scripts.ts'
import { appliedRepository, nextRound, type RoundOptions, runFirst, startStack } from './stack.ts'

const stack = startOnce(startStack)

const block = (name: string, input: string, more = '') =>
  `resource "terraform_data" "${name}" {\n  input = "${input}"\n${more}}\n`
const WEB = block('web', 'pages')
const LEDGER = block('ledger', 'rows')
const JOURNAL = block('journal', 'rows')
const MOVED = 'moved {\n  from = terraform_data.ledger\n  to   = terraform_data.journal\n}\n'

const states = (...statements: object[]): Reply => ({ args: { statements } })
const count = (action: string, value: number, more: object = {}) => ({
  ...{ kind: 'resource_count', type: 'terraform_data', action, op: 'eq', value, text: `${value} to ${action}` },
  ...{ words: 'the words', ...more },
})
/** A statement that says nothing about destruction. */
const THERE = { kind: 'attribute', type: 'terraform_data', name: 'journal', path: 'input', op: 'eq', value: 'rows' }
const RENAMED = states({ ...THERE, text: 'The ledger is called journal', words: 'journal' })

/** Runs a round on an applied repository; the author answers with these files, one attempt each. */
async function playRound(attempts: string[], statements: Reply | undefined, options: RoundOptions = {}) {
  const repo_uri = await appliedRepository(stack, { 'main.tf': WEB + LEDGER, ...options.request?.files })
  const scripts = goodRound({
    task_complete: attempts.flatMap((text, index) => [write('main.tf', text), done(`Attempt ${index + 1}.`)]),
    generate_engine_targets: targets('terraform_data.journal', 'terraform_data.ledger'),
    [SPLIT]: operations([]),
    ...(statements && { report_intent_statements: statements }),
  })
  const request = { query: 'Rename the ledger to journal.', ...options.request, repo_uri }
  const played = await runFirst(stack, scripts, { orchestration: GATES, ...options, request })
  const [told] = await textsOf(stack, played.session.uuid, 'report')
  const [check] = await textsOf(stack, played.session.uuid, 'check')
  return { ...played, report: JSON.parse(told ?? 'null'), check: JSON.parse(check ?? 'null') }
}

const LOST = 'The plan destroys what the request does not ask to destroy: terraform_data.ledger.'

describe('a block that is renamed without a moved block', () => {
  it('goes back once with the block that keeps the object, and is mended', async () => {
    const { llm, session, report } = await playRound([WEB + JOURNAL, WEB + JOURNAL + MOVED], RENAMED)
    expect(session).toMatchObject({ is_blocked: false })
    expect(session.statuses.at(-1)).toBe('completed')
    const told = String(llm.of('task_complete')[2]?.messages.at(-1)?.content)
    expect(told).toContain('its plan destroys existing objects')
    expect(readBlocks(told)[0]).toMatchObject({
      label: 'unasked',
      content:
        '- terraform_data.ledger is destroyed. terraform_data.journal, of the same type, is created.\n' +
        `If the new objects are the old ones at another address, these blocks keep them:\n${MOVED.trim()}`,
    })
    expect(session.history[0]?.assistant).not.toContain('destroys')
    expect(report.summary).toMatchObject({ create: 0, update: 0, delete: 0, recreate: 0 })
  })

  it('stays destroyed: a finding that locks, a medium impact, and the first sentence of answer and report', async () => {
    const { llm, session, report, check } = await playRound([WEB + JOURNAL, WEB + JOURNAL], RENAMED)
    expect(session.statuses.filter((status) => status === 'generating')).toHaveLength(2)
    expect(llm.of('task_complete')).toHaveLength(4)
    expect(session.history[0]?.assistant.startsWith(LOST)).toBe(true)
    expect(report.potential_impact.summary.startsWith(LOST)).toBe(true)
    expect(report.potential_impact.banner).toMatchObject({
      level: 'medium',
      description: 'One more greeting. Raised to medium because of terraform_data.ledger (destroyed).',
    })
    expect(check.passed).toBe(false)
    expect(check.violations).toEqual([
      expect.objectContaining({
        rule_id: 'common.scope.unasked-loss',
        severity: 'error',
        resource: 'terraform_data.ledger',
      }),
    ])
    expect(session.is_blocked).toBe(true)

    // A later request about something else does not make it asked for.
    const later = stack.context(
      goodLlm({
        task_complete: [write('third.tf', block('third', 'x')), done('Added a third.')],
        generate_engine_targets: targets('terraform_data.third'),
        report_intent_statements: states(count('create', 1, { name: 'third' })),
        [SPLIT]: operations([]),
      }),
      { orchestration: GATES },
    )
    const second = await nextRound(stack, later, session.uuid, 'Add a third one')
    expect(second.is_blocked).toBe(true)
  })

  it('is no loss when the request asks to destroy it', async () => {
    const asked = states(count('delete', 1, { name: 'ledger' }))
    const { llm, session, check, report } = await playRound([WEB], asked)
    expect(llm.of('task_complete')).toHaveLength(2)
    expect(session).toMatchObject({ is_blocked: false })
    expect(check.passed).toBe(true)
    expect(report.potential_impact.banner.level).toBe('medium')

    // It is in the plan of the next round too, which was asked for something else.
    const later = goodLlm({
      task_complete: [write('third.tf', block('third', 'x')), done('Added a third.')],
      generate_engine_targets: targets('terraform_data.third'),
      report_intent_statements: states(count('create', 1, { name: 'third' })),
      [SPLIT]: operations([]),
    })
    const second = await nextRound(
      stack,
      stack.context(later, { orchestration: GATES }),
      session.uuid,
      'Add a third one',
    )
    expect(second.is_blocked).toBe(false)
    expect(later.of('task_complete')).toHaveLength(2)
  })

  it('is said, and locks nothing, where nobody could say what the request asks for', async () => {
    const { session, check } = await playRound([WEB + JOURNAL, WEB + JOURNAL], undefined)
    const sentence = 'The plan destroys terraform_data.ledger; whether the request asks for it could not be checked.'
    expect(session.history[0]?.assistant.startsWith(sentence)).toBe(true)
    expect(check.passed).toBe(true)
    expect(session.is_blocked).toBe(false)
  })
})

it('a replacement that nothing asks for goes back with the attribute that forces it', async () => {
  const old = block('journal', 'rows', '  triggers_replace = "one"\n')
  const files = { 'main.tf': WEB + old }
  const { llm, session } = await playRound([WEB + old.replace('"one"', '"two"'), WEB + old], RENAMED, {
    request: { files },
  })
  const told = said(llm.of('task_complete')[2])
  expect(told).toContain('- terraform_data.journal is destroyed and created anew, forced by triggers_replace.')
  expect(session.is_blocked).toBe(false)
})

it('what is moved and also changed goes back once with the attributes and what sets them', async () => {
  const files = {
    'main.tf': LEDGER,
    'service/main.tf': 'variable "rows" {}\nresource "terraform_data" "ledger" {\n  input = var.rows\n}\n',
  }
  const call = (rows: string) =>
    `module "service" {\n  source = "./service"\n  rows   = "${rows}"\n}\n` +
    'moved {\n  from = terraform_data.ledger\n  to   = module.service.terraform_data.ledger\n}\n'
  const nothing = states(count('create', 0), { kind: 'no_deletions', text: 'Nothing is lost', words: '' })
  const { llm, session, report } = await playRound([call('lines'), call('rows')], nothing, {
    request: { files, query: 'Move the ledger into the module.' },
  })
  expect(String(llm.of('task_complete')[2]?.messages.at(-1)?.content)).toContain(
    '- module.service.terraform_data.ledger, moved from terraform_data.ledger: input from "rows" to "lines", set by var.rows',
  )
  expect(report.summary).toMatchObject({ create: 0, update: 0, delete: 0, recreate: 0 })
  expect(session.history[0]?.assistant).not.toContain('changes them in place')
})

it('a destroyed object is no object that is missing', async () => {
  const statement = { kind: 'attribute', address: 'terraform_data.ledger', path: 'input', op: 'eq', value: 'rows' }
  const stays = states({ ...statement, text: 'The ledger keeps its rows', words: 'ledger' })
  const { report: told } = await playRound([WEB, WEB, WEB], stays)
  expect(JSON.stringify(told)).toContain('Found: delete terraform_data.ledger.')
})
