import { beforeAll, expect, it } from 'vitest'
import { basicAuthorization } from '../../../src/base/http.ts'
import { createPullRequest } from '../../../src/pull-requests/create.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { sectionOf } from '../../pull-requests/evidence/fixtures.ts'
import { trust } from '../../repository/support.ts'
import { done, goodRound, MAIN, targets, write } from './scripts.ts'
import { engineBeside, firstRound, startStack } from './stack.ts'

const stack = startOnce(startStack)
beforeAll(() => {
  trust(stack.git_host.caPem)
})

const MOVED = `${MAIN.replace('greeting', 'welcome')}
moved {
  from = terraform_data.greeting
  to   = terraform_data.welcome
}
`

async function openedText(repo_uri: string, uuid: string): Promise<string> {
  const generate_pull_request = { args: { title: 'Rename the greeting', description: 'It has a better name.' } }
  const { id } = await createPullRequest(stack.context(scriptedLlm({ generate_pull_request })), uuid)
  const { user, token } = stack.config.git
  const [owner, name] = new URL(repo_uri).pathname.replace(/^\/|\.git$/g, '').split('/')
  const answer = await fetch(`${stack.git_host.api_url}/repos/${owner}/${name}/pulls/${id}`, {
    headers: { authorization: basicAuthorization(user, token) },
  })
  const pull = (await answer.json()) as { body: string }
  return pull.body
}

it('a round that moves an object tells so in its pull request, and how to move it back', async () => {
  const repo_uri = await stack.repository({ 'main.tf': MAIN })
  await (await engineBeside(stack, repo_uri)).apply()
  const llm = scriptedLlm(
    goodRound({
      task_complete: [write('main.tf', MOVED), done('Renamed the greeting.')],
      generate_engine_targets: targets('terraform_data.greeting', 'terraform_data.welcome'),
    }),
  )
  const session = await firstRound(stack, stack.context(llm), { repo_uri, query: 'Rename the greeting' })
  expect(session.failures).toEqual([])
  expect(session.statuses.at(-1)).toBe('completed')
  const text = await openedText(repo_uri, session.uuid)
  expect(sectionOf(text, 'Plan')).toMatch(/^\*\*0 to create, 0 to update, 0 to delete, 0 to recreate, 1 to move\*\*/)
  expect(sectionOf(text, 'Plan')).toContain('| move | `terraform_data.greeting` → `terraform_data.welcome` |  |')
  expect(sectionOf(text, 'How to roll back')).toContain('- from `terraform_data.welcome` to `terraform_data.greeting`')
})
