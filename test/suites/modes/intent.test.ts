import { beforeAll, describe, expect, it } from 'vitest'
import { basicAuthorization } from '../../../src/base/http.ts'
import { createPullRequest } from '../../../src/pull-requests/create.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { type Reply, said, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { trust } from '../../repository/support.ts'
import { textsOf } from './artifacts.ts'
import { ADDED, done, goodRound, MAIN, write } from './scripts.ts'
import { firstRound, nextRound, type SessionView, startStack } from './stack.ts'

const stack = startOnce(startStack)
beforeAll(async () => {
  trust(stack.git_host.caPem)
})

const TITLE = 'Checked against the request'
const statements: Reply = {
  args: {
    statements: [
      {
        kind: 'attribute',
        text: 'It says hello three times',
        words: 'thrice',
        type: 'terraform_data',
        path: 'input',
        op: 'eq',
        value: 'hello hello hello',
      },
      { kind: 'no_deletions', text: 'Nothing is destroyed.', words: 'Add' },
      {
        kind: 'attribute',
        text: 'It has a known id',
        words: '',
        type: 'terraform_data',
        path: 'id',
        op: 'eq',
        value: '1',
      },
    ],
  },
}
const thrice = ADDED.replace('hello again', 'hello hello hello')

async function checkedIn(session: SessionView): Promise<string | null> {
  const report = (await textsOf(stack, session.uuid, 'report')).at(-1)
  const points: { title: string; description: string }[] = JSON.parse(report ?? '').potential_impact.bullet_points
  return points.find(({ title }) => title === TITLE)?.description ?? null
}

async function pullRequestText(repo_uri: string, session: SessionView): Promise<string> {
  const written = { args: { title: 'Add a second greeting', description: 'For the logs.' } }
  const { id } = await createPullRequest(stack.context(scriptedLlm({ generate_pull_request: written })), session.uuid)
  const { user, token } = stack.config.git
  const path = new URL(repo_uri).pathname.replace(/^\/|\.git$/g, '')
  const answer = await fetch(`${stack.git_host.api_url}/repos/${path}/pulls/${id}`, {
    headers: { authorization: basicAuthorization(user, token) },
  })
  return ((await answer.json()) as { body: string }).body
}

describe('a generate round whose first plan leaves out what was asked for', () => {
  it('is repaired; report and pull request say what was checked', async () => {
    const generator = [write('second.tf', ADDED), done('First.'), write('second.tf', thrice), done('Second.')]
    const llm = scriptedLlm(goodRound({ task_complete: generator, report_intent_statements: statements }))
    const session = await firstRound(stack, stack.context(llm))
    expect(session.failures).toEqual([])
    expect(session.statuses.at(-1)).toBe('completed')
    expect(said(llm.of('task_complete')[2])).toContain('terraform_data.second: input is')
    expect(await checkedIn(session)).toBe(
      [
        'Code checked 3 statements made from the request against the plan: 2 of 3 met.',
        '- unknown: It has a known id. The plan has: terraform_data.second: id is a value known only after apply.',
      ].join('\n'),
    )
    const text = await pullRequestText(session.repo_uri, session)
    expect(text).toContain(
      `## ${TITLE}\n\nCode checked 3 statements made from the request against the plan: 2 of 3 met.\n\n` +
        '- unknown: It has',
    )
    expect(await stack.git(session.repo_uri, 'show', `${session.branch}:second.tf`)).toBe(thrice)
  })
})

describe('what the generator begins with', () => {
  it('holds the files of a short repository whole, and no hidden one', async () => {
    const llm = scriptedLlm(goodRound())
    const repo_uri = await stack.repository({
      'main.tf': MAIN,
      'farewell.tf': 'resource "terraform_data" "farewell" {\n  input = "bye"\n}\n',
      'docs/a.md': '# Docs\n',
      '.github/secret.tf': 'hidden',
      'modules/m/main.tf': 'variable "x" {\n  default = 1\n}\n',
    })
    const session = await firstRound(stack, stack.context(llm), { repo_uri })
    expect(session.statuses.at(-1)).toBe('completed')
    const query = llm.of('task_complete')[0]?.messages.at(-1)?.content ?? ''
    expect(query).toMatch(/<<<DATA request (\w+)\nAdd a second greeting\n\1 DATA>>>/)
    expect(query).toContain('All code of the repository as it is now, whole')
    expect(query).toMatch(
      /<<<DATA relevant files (\w+)\n--- farewell\.tf ---\n[^-]*\n--- main\.tf ---\nresource "terraform_data" "greeting" \{\n {2}input = "hello"\n\}\n\n--- modules\/m\/main\.tf ---\n[^-]*\n\1 DATA>>>/,
    )
    expect(query).toMatch(/<<<DATA repository files (\w+)\ndocs\/a\.md \(7 B\)\n\1 DATA>>>/)
    expect(query).not.toMatch(/hidden|github|backend_override/)
    const again = scriptedLlm(
      goodRound({ task_complete: [write('third.tf', ADDED.replaceAll('second', 'third')), done('Third.')] }),
    )
    await nextRound(stack, stack.context(again), session.uuid, 'Rename it')
    expect(again.of('task_complete')[0]?.messages.at(-1)?.content).toContain('--- second.tf ---')
  })
})
