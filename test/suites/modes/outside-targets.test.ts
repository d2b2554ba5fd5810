import { readdirSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { basicAuthorization } from '../../../src/base/http.ts'
import { STOPPING } from '../../../src/data/queue.ts'
import { createPullRequest } from '../../../src/pull-requests/create.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { trust } from '../../repository/support.ts'
import { textsOf } from './artifacts.ts'
import { GATES, goodRound, MAIN } from './scripts.ts'
import { engineBeside, firstRound, planPath, runWaiting, type SessionView, startStack } from './stack.ts'

const stack = startOnce(startStack)
beforeAll(async () => {
  trust(stack.git_host.caPem)
})

const NONE = 'A plan of the whole root changes nothing outside the targets.'

/** Creates a repository with applied code; `edit` then changes the infrastructure behind the engine's back. */
async function appliedRepository(edit?: (state: string) => string): Promise<string> {
  const repo_uri = await stack.repository({ 'main.tf': MAIN })
  const engine = await engineBeside(stack, repo_uri)
  await engine.apply()
  if (edit) await engine.editState(edit)
  return repo_uri
}

async function outsideOf(session: SessionView): Promise<string | null> {
  const [report] = await textsOf(stack, session.uuid, 'report')
  const points: { title: string; description: string }[] = JSON.parse(report ?? '').potential_impact.bullet_points
  return points.find(({ title }) => title === 'Outside the targets')?.description ?? null
}

/** Opens a pull request at the git host and returns its description. */
async function pullRequestText(repo_uri: string, session: SessionView): Promise<string> {
  const written = { args: { title: 'Add a second greeting', description: 'For the logs.' } }
  const { id } = await createPullRequest(stack.context(scriptedLlm({ generate_pull_request: written })), session.uuid)
  const { user, token } = stack.config.git
  const headers = { authorization: basicAuthorization(user, token) }
  const [owner, name] = new URL(repo_uri).pathname.replace(/^\/|\.git$/g, '').split('/')
  const answer = await fetch(`${stack.git_host.api_url}/repos/${owner}/${name}/pulls/${id}`, { headers })
  const pull = (await answer.json()) as { body: string }
  return pull.body
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
    expect(readdirSync(planPath(stack, session.uuid)).filter((name) => name.endsWith('.plan'))).toEqual([
      'session.plan',
    ])
    const text = await pullRequestText(repo_uri, session)
    expect(text).toMatch(
      /^For the logs\.\n\n## Plan\n\n\*\*1 to create, 0 to update, 0 to delete, 0 to recreate\*\* \(round 1, planned /,
    )
    expect(text).toContain('| create | `terraform_data.second` | A second greeting. |')
    expect(text).toContain('**Passed** (round 1): no findings.')
    expect(text).toMatch(
      /- Only 1 target and what it depends on were planned: `terraform_data.second`\.\n- The engine planned at .+ on commit `[0-9a-f]{12}`/,
    )
    expect(text).toMatch(/- \d+ values? of the plan (is|are) known only after apply/)
    expect(text).toContain('that this plan leaves out:\n\n- update `terraform_data.greeting`')
    expect(text).toContain('The plan destroys and recreates nothing.')
  })
})

describe('a worker that stops while the whole root is planned', () => {
  it('hands the round back; it is run again and ends as usual', async () => {
    const repo_uri = await appliedRepository()
    const stop = new AbortController()
    const { iac } = stack.context(scriptedLlm({}))
    const stopping: typeof iac = {
      ...iac,
      run: async (kind, body, options) => {
        if (kind === 'plan' && 'targets' in body && body.targets?.length === 0) stop.abort(STOPPING)
        return await iac.run(kind, body, options)
      },
    }
    const stopped = await firstRound(
      stack,
      stack.context(scriptedLlm(goodRound()), { iac: stopping }),
      { repo_uri },
      stop.signal,
    )
    expect(stopped.in_flight).toBe(true)
    expect(await textsOf(stack, stopped.uuid, 'report')).toEqual([])
    const session = await runWaiting(stack, stack.context(scriptedLlm(goodRound())), stopped.uuid)
    expect(session.failures).toEqual([])
    expect(session.statuses.at(-1)).toBe('completed')
    expect(await outsideOf(session)).toBe(NONE)
  })
})
