import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { type Reply, said } from '../../pipeline/steps/scripted-llm.ts'
import { readBlocks } from '../../prompts/blocks.ts'
import { textsOf } from './artifacts.ts'
import { ADDED, BROKEN, done, findings, GATES, THRICE, write } from './scripts.ts'
import { type RoundOptions, runGenerate, startStack } from './stack.ts'

const stack = startOnce(startStack)

const FOUND = {
  rule_id: 'greeting_too_short',
  severity: 'critical',
  resource: 'terraform_data.second',
  message: 'It says hello once',
  suggested_fix: 'Say it three times.',
}
const finds = (...violations: object[]): Reply => ({
  args: { violations, summary: 'Audited.', checked_rules: ['greeting_too_short'] },
})
const first = [write('second.tf', ADDED), done('Added a second greeting.')]
const SENTENCE =
  'The audit found greeting_too_short at terraform_data.second: It says hello once. It went back to the author'

/** Runs a round with these audits, one a plan, and these answers of the author to the first of them. */
async function play(audits: Reply[], answers: Reply[], options: RoundOptions = {}) {
  const scripts = { report_compliance_findings: audits, task_complete: [...first, ...answers] }
  const played = await runGenerate(stack, scripts, { orchestration: GATES, ...options })
  const { uuid } = played.session
  expect(played.session.statuses.at(-1)).toBe('completed')
  const { sql } = stack.database
  const attempts = await sql<{ outcome: string; reason: string | null }[]>`
    SELECT a.outcome, a.reason FROM round_attempts a JOIN rounds r ON r.id = a.round_id JOIN sessions s ON s.id = r.session_id
    WHERE s.uuid = ${uuid} ORDER BY a.number`
  const [row] = await sql<{ result: { notes: string[] }; lock: unknown }[]>`
    SELECT r.result, (SELECT detail FROM audit_records WHERE session_uuid = ${uuid} AND action = 'session_locked') AS lock
    FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid}`
  const last = async (kind: string) => JSON.parse((await textsOf(stack, uuid, kind)).at(-1) ?? 'null')
  return {
    ...{ ...played, attempts, notes: row?.result.notes ?? [], lock: JSON.stringify(row?.lock ?? null) },
    ...{ report: await last('report'), check: await last('check') },
    code: await stack.git(played.session.repo_uri, 'show', `${played.session.branch}:second.tf`),
  }
}

describe('what the audit finds', () => {
  it('goes back to the author once, and is mended', async () => {
    const mended = [write('second.tf', THRICE), done('It says hello three times now.')]
    const { llm, session, attempts, notes, check, report, code } = await play([finds(FOUND), findings()], mended)
    expect(session.is_blocked).toBe(false)
    expect(code).toBe(THRICE)
    expect(check).toMatchObject({ passed: true, violations: [] })
    const query = String(llm.of('task_complete')[2]?.messages.at(-1)?.content)
    expect(readBlocks(query)[0]).toMatchObject({
      label: 'findings of the audit',
      content: 'critical greeting_too_short at terraform_data.second: It says hello once. Say it three times.',
    })
    expect(attempts).toEqual([
      { outcome: 'refused', reason: null },
      {
        outcome: 'accepted',
        reason: expect.stringMatching(/^The audit found .* greeting_too_short at terraform_data/),
      },
    ])
    expect(session.history[0]?.assistant).toContain(`${SENTENCE} and was mended.`)
    expect(notes).toContain(`${SENTENCE} and was mended.`)
    expect(JSON.stringify(report)).toContain(`${SENTENCE} and was mended.`)
    expect(llm.of('report_compliance_findings')).toHaveLength(2)
  })

  it('locks when the new plan still has it', async () => {
    const changed = [write('second.tf', THRICE), done('It says hello three times now.')]
    const { llm, session, notes } = await play([finds(FOUND)], changed)
    expect(session.is_blocked).toBe(true)
    expect(notes).toContain(`${SENTENCE} and remains.`)
    expect(llm.of('report_compliance_findings')).toHaveLength(2)
    expect(llm.of('task_complete')).toHaveLength(4)
  })

  it('locks with the words of an author who was asked for exactly that, after one audit', async () => {
    const { llm, session, attempts, lock, notes } = await play(
      [finds(FOUND)],
      [done('The request asks for one hello.')],
    )
    expect(session.is_blocked).toBe(true)
    expect(session.history[0]?.assistant).toContain(
      'Attempt 1 was accepted, but the audit objected; attempt 2 changed nothing: The request asks for one hello.',
    )
    expect(lock).toContain('The request asks for one hello.')
    expect(notes).toContain(`${SENTENCE} and remains: the plan is the same.`)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['refused', 'accepted'])
    expect(llm.of('report_compliance_findings')).toHaveLength(1)
    expect(llm.of('generate_engine_plan_report')).toHaveLength(1)
  })

  it('locks the reviewed code when what the author writes is not valid', async () => {
    const broken = [write('second.tf', BROKEN), done('Now.')]
    const { llm, session, code, attempts, notes } = await play([finds(FOUND)], broken)
    expect(session.is_blocked).toBe(true)
    expect(code).toBe(ADDED)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'accepted'])
    expect(notes).toContain(`${SENTENCE} and remains: what was changed was not taken.`)
    expect(session.history[0]?.assistant).not.toContain('Now.')
    expect(llm.of('report_compliance_findings')).toHaveLength(1)
  })

  it.each<[string, object, RoundOptions]>([
    ['about what the plan does not change', { ...FOUND, resource: 'terraform_data.greeting' }, {}],
    ['that locks nothing', { ...FOUND, severity: 'warning' }, {}],
    ['when no attempt is left', FOUND, { orchestration: { ...GATES, max_validation_iteration: 1 } }],
  ])('costs no attempt %s', async (_, found, options) => {
    const { llm, attempts } = await play([finds(found)], [], options)
    expect(llm.of('task_complete')).toHaveLength(2)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['accepted'])
    expect(said(llm.of('task_complete')[1])).not.toContain('findings of the audit')
  })
})
