import { expect } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { type Reply, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { ADDED, done, goodRound, MAIN, write } from '../modes/scripts.ts'
import { firstRound, type SessionView, startStack } from '../modes/stack.ts'
import { attack } from './attack.ts'

const stack = startOnce(startStack)

const GROUP = 'what may never be pushed'
const SECRET = 'only-in-the-plan-file'
const thrice = ADDED.replace('hello again', 'hello hello hello')

/** A statement that the first plan does not meet, so that a second attempt follows after a plan file was written. */
const unmet: Reply = {
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
    ],
  },
}

/** Runs a round of two attempts. The plan of the first is on the disk when the second is committed. */
async function roundOn(files: Record<string, string>): Promise<{ repo_uri: string; session: SessionView }> {
  const generator = [write('second.tf', ADDED), done('First.'), write('second.tf', thrice), done('Second.')]
  const llm = scriptedLlm(goodRound({ task_complete: generator, report_intent_statements: unmet }))
  const secret = `variable "password" {\n  default   = "${SECRET}"\n  sensitive = true\n}\n`
  const repo_uri = await stack.repository({ 'main.tf': MAIN, 'variables.tf': secret, ...files })
  const session = await firstRound(stack, stack.context(llm), { repo_uri })
  return { repo_uri, session }
}

/** Lists every path that a commit of the session branch has added, changed or deleted. */
async function changedPaths(repo_uri: string, branch: string): Promise<string[]> {
  const range = `main..${branch}`
  const listed = await stack.git(repo_uri, 'log', '--format=', '--name-only', '--no-renames', range)
  return [...new Set(listed.split('\n').filter(Boolean))].sort()
}

async function assertNothingLeaked(repo_uri: string, session: SessionView): Promise<void> {
  expect(session.failures).toEqual([])
  expect(session.statuses.at(-1)).toBe('completed')
  expect(Number(await stack.git(repo_uri, 'rev-list', '--count', `main..${session.branch}`))).toBe(2)
  expect(await changedPaths(repo_uri, session.branch)).toEqual(['second.tf'])
  const history = await stack.git(repo_uri, 'log', '--patch', '--text', `main..${session.branch}`)
  expect(history).not.toContain(stack.config.storage.secret_key)
}

attack(GROUP, 'a .gitignore that lets plan, state and the folder of the engine through', async () => {
  const rules = ['!.terraform/', '!.terraform/**', '!*.tfstate', '!*.tfstate.*', '!*.plan', '!*_override.tf'].join('\n')
  const { repo_uri, session } = await roundOn({ '.gitignore': `${rules}\n` })
  await assertNothingLeaked(repo_uri, session)
  return 'plan, state, .terraform and the override are left out of every commit, whatever the ignore rules say'
})

attack(GROUP, 'a tracked file with the name of the plan', async () => {
  const { repo_uri, session } = await roundOn({ 'session.plan': 'theirs\n' })
  await assertNothingLeaked(repo_uri, session)
  expect(await stack.git(repo_uri, 'show', `${session.branch}:session.plan`)).toBe('theirs\n')
  return 'a tracked file of this name keeps the text that the base commit has'
})

attack(
  GROUP,
  'tracked files with the names of state, plan, crash log and override, in other letter cases',
  async () => {
    const theirs = {
      'Session.PLAN': 'theirs\n',
      'backend_override.tf': 'locals {}\n',
      '.Terraform/terraform.tfstate': 'theirs\n',
      '.terraform/terraform.tfstate': 'theirs\n',
      'crash.log': 'theirs\n',
      '.platform-masks.json': '[]\n',
    }
    const { repo_uri, session } = await roundOn(theirs)
    await assertNothingLeaked(repo_uri, session)
    for (const [path, text] of Object.entries(theirs))
      expect(await stack.git(repo_uri, 'show', `${session.branch}:${path}`)).toBe(text)
    return 'tracked files of these names are neither changed nor deleted on the branch'
  },
)
