import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Context } from '../../src/context.ts'
import { said, scriptedLlm } from '../steps/scripted-llm.ts'
import { textsOf } from './artifacts.ts'
import { GATES, goodRound, MAIN, targets } from './scripts.ts'
import { engineBeside, firstRound, pinnedPath, type SessionView, type Stack, startStack } from './stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.close())

const NONE = 'A plan of the whole root changes nothing outside the targets.'

/** A repository whose code is applied; `edit` then changes the infrastructure behind the engine's back. */
async function appliedRepository(edit?: (state: string) => string): Promise<string> {
  const repo_uri = await stack.repository({ 'main.tf': MAIN })
  const engine = await engineBeside(stack, repo_uri)
  await engine.apply()
  if (edit) await engine.editState(edit)
  return repo_uri
}

/** Counts plans of the whole root. */
function counted(context: Context): { context: Context; whole: () => number } {
  let whole = 0
  const iac: Context['iac'] = {
    ...context.iac,
    run: async (kind, body, options) => {
      if (kind === 'plan' && 'targets' in body && body.targets?.length === 0) whole++
      return await context.iac.run(kind, body, options)
    },
  }
  return { context: { ...context, iac }, whole: () => whole }
}

async function outsideOf(session: SessionView): Promise<string | null> {
  const [report] = await textsOf(stack, session.uuid, 'report')
  const points: { title: string; description: string }[] = JSON.parse(report ?? '').potential_impact.bullet_points
  return points.find(({ title }) => title === 'Outside the targets')?.description ?? null
}

describe('a targeted plan', () => {
  it('comes with the changes that others have pending in the same root', async () => {
    const repo_uri = await appliedRepository((state) => state.replaceAll('"hello"', '"changed by hand"'))
    const llm = scriptedLlm(goodRound())
    const session = await firstRound(stack, stack.context(llm, { orchestration: GATES }), { repo_uri })
    expect(session.failures).toEqual([])
    expect(session.statuses.at(-1)).toBe('completed')
    expect(await outsideOf(session)).toBe(
      'A plan of the whole root would also make a change that this plan leaves out:\n- update terraform_data.greeting',
    )
    expect(said(llm.of('report_compliance_findings')[0])).toContain('Not part of this plan, for information only')
    expect(readdirSync(pinnedPath(stack, session.uuid)).filter((name) => name.endsWith('.plan'))).toEqual(['session.plan'])
  })

  it('that leaves nothing out says so', async () => {
    const repo_uri = await appliedRepository()
    const session = await firstRound(stack, stack.context(scriptedLlm(goodRound())), { repo_uri })
    expect(await outsideOf(session)).toBe(NONE)
  })

  it('is reviewed and pinned also when the whole root cannot be planned', async () => {
    const repo_uri = await appliedRepository()
    const { iac } = stack.context(scriptedLlm({}))
    const failing: typeof iac = {
      ...iac,
      run: async (kind, body, options) => {
        if (kind === 'plan' && 'targets' in body && body.targets?.length === 0)
          return { exit_code: 1, stdout: '', stderr: 'Error: no credentials for the other half' }
        return await iac.run(kind, body, options)
      },
    }
    const session = await firstRound(stack, stack.context(scriptedLlm(goodRound()), { iac: failing }), { repo_uri })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(await outsideOf(session)).toBe(
      'What a plan of the whole root would change outside the targets could not be determined: Error: no credentials for the other half',
    )
    expect(readdirSync(pinnedPath(stack, session.uuid))).toContain('session.plan')
  })
})

describe('a plan of the whole root', () => {
  it('needs no second one and tells of no outside', async () => {
    const repo_uri = await appliedRepository()
    const { context, whole } = counted(stack.context(scriptedLlm(goodRound({ generate_engine_targets: targets() }))))
    const session = await firstRound(stack, context, { repo_uri })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(await outsideOf(session)).toBeNull()
    expect(whole()).toBe(1)
  })
})
