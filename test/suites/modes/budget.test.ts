import { existsSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { ModelBudget } from '../../../config/sections/llm.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { applyLlm, applyReports, applyRound, managedState, sessionWithPlan } from './apply-world.ts'
import { ADDED, GATES, goodLlm, MAIN } from './scripts.ts'
import { firstRound, planPath, type Stack, startStack } from './stack.ts'

/** A call of the scripted model takes 110 tokens. */
const CALL = 110
const stack = startOnce(startStack)

const limited = (given: Stack, llm: ReturnType<typeof goodLlm>, budget: ModelBudget) => {
  const { config } = given.context(llm)
  return given.context(llm, {
    config: { ...config, llm: { ...config.llm, budget }, orchestration: { ...config.orchestration, ...GATES } },
  })
}

const headOf = (repo_uri: string, branch: string) => stack.git(repo_uri, 'rev-parse', branch)

/** What a failed round leaves on the disk of its worker. */
const clonesOf = (uuid: string) => {
  const folder = `${stack.config.paths.upload_folder}/${uuid}`
  return existsSync(folder) ? readdirSync(folder) : []
}

it('that is reached while the code is written pushes nothing, saves no plan and leaves no clone', async () => {
  const llm = goodLlm()
  const repo_uri = await stack.repository({ 'main.tf': MAIN })
  // Judged and composed in two calls, besides a sentence and statements: it ends at the generator at the latest.
  const session = await firstRound(stack, limited(stack, llm, { round: { tokens: 3 * CALL } }), { repo_uri })
  expect(session.statuses.at(-1)).toBe('failed')
  expect(session.messages.at(-1)).toMatch(
    /^runner failed: the model budget of a round is used up: its limit is 330 tokens, and \d+ were used\. /,
  )
  expect(session.history.at(-1)?.assistant).toContain('(llm.budget.round.tokens).\n\nThis ends the session')
  expect(session.in_flight).toBe(false)
  expect(llm.of('generate_engine_plan_report')).toEqual([])
  expect(await headOf(repo_uri, session.branch)).toBe(await headOf(repo_uri, 'main'))
  expect(clonesOf(session.uuid)).toEqual([])
  expect(existsSync(planPath(stack, session.uuid))).toBe(false)
})

it('that is reached after a push leaves the whole commit of the attempt and no plan, and tries no more', async () => {
  const llm = goodLlm()
  const { complete } = llm
  const limit = { tokens: 1_000_000 }
  llm.complete = async (request) => {
    const reply = await complete(request)
    // The second call of the generator says that the code is done; nothing is left from then on.
    if (llm.of('task_complete').length === 2) limit.tokens = 1
    return reply
  }
  const context = limited(stack, llm, { round: limit })
  const session = await firstRound(stack, context)
  expect(session.statuses.at(-1)).toBe('failed')
  expect(session.messages.at(-1)).toContain('the model budget of a round is used up')
  expect(await stack.git(session.repo_uri, 'show', `${session.branch}:second.tf`)).toBe(ADDED)
  expect(llm.of('generate_engine_plan_report')).toEqual([])
  const rows = await context.sql`
    SELECT p.round_id FROM saved_plans p JOIN sessions s ON s.id = p.session_id WHERE s.uuid = ${session.uuid}`
  expect(rows).toEqual([])
  expect(clonesOf(session.uuid)).toEqual([])
})

it('that is used up stops no apply, whose report code writes', async () => {
  const llm = applyLlm()
  const { uuid, repo_uri } = await sessionWithPlan(stack, stack.context(llm))
  const context = limited(stack, llm, { round: { tokens: 1 }, user_day: { tokens: 1 } })
  const session = await applyRound(stack, { ...context, mayLogErrors: true }, uuid)
  expect(session.statuses).toEqual(['started', 'apply', 'report', 'completed'])
  expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
  expect(await applyReports(stack, uuid)).toMatchObject([{ status: 'Success', summary: { created: 1 } }])
  expect(llm.of('generate_engine_apply_report')).toEqual([])
})
