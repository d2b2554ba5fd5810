import { expect } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { ADDED, done, MAIN, statesThrice, THRICE, write } from '../modes/scripts.ts'
import { runGenerate, startStack } from '../modes/stack.ts'
import { attack } from './attack.ts'

const stack = startOnce(startStack)

const GROUP = 'what may never be pushed'
const SECRET = 'only-in-the-plan-file'

/** Runs a round of two attempts. The plan of the first is on the disk when the second is committed. */
async function roundOn(files: Record<string, string>) {
  const task_complete = [write('second.tf', ADDED), done('First.'), write('second.tf', THRICE), done('Second.')]
  const secret = `variable "password" {\n  default   = "${SECRET}"\n  sensitive = true\n}\n`
  const request = { files: { 'main.tf': MAIN, 'variables.tf': secret, ...files } }
  const { session } = await runGenerate(stack, { task_complete, report_intent_statements: statesThrice() }, { request })
  return session
}

/** Lists every path that a commit of the session branch has added, changed or deleted. */
async function changedPaths(repo_uri: string, branch: string): Promise<string[]> {
  const range = `main..${branch}`
  const listed = await stack.git(repo_uri, 'log', '--format=', '--name-only', '--no-renames', range)
  return [...new Set(listed.split('\n').filter(Boolean))].sort()
}

const TRACKED: [title: string, files: Record<string, string>, stoppedBy: string][] = [
  [
    'a .gitignore that lets plan, state and the folder of the engine through',
    { '.gitignore': '!.terraform/\n!.terraform/**\n!*.tfstate\n!*.tfstate.*\n!*.plan\n!*_override.tf\n' },
    'plan, state, .terraform and the override are left out of every commit, whatever the ignore rules say',
  ],
  [
    'a tracked file with the name of the plan',
    { 'session.plan': 'theirs\n' },
    'a tracked file of this name keeps the text that the base commit has',
  ],
  [
    'tracked files with the names of state, plan, crash log and override, in other letter cases',
    {
      'Session.PLAN': 'theirs\n',
      'backend_override.tf': 'locals {}\n',
      '.Terraform/terraform.tfstate': 'theirs\n',
      '.terraform/terraform.tfstate': 'theirs\n',
      'crash.log': 'theirs\n',
      '.platform-masks.json': '[]\n',
    },
    'tracked files of these names are neither changed nor deleted on the branch',
  ],
]
for (const [title, files, stoppedBy] of TRACKED)
  attack(GROUP, title, async () => {
    const { failures, statuses, branch, repo_uri } = await roundOn(files)
    expect(failures).toEqual([])
    expect(statuses.at(-1)).toBe('completed')
    expect(Number(await stack.git(repo_uri, 'rev-list', '--count', `main..${branch}`))).toBe(2)
    expect(await changedPaths(repo_uri, branch)).toEqual(['second.tf'])
    const history = await stack.git(repo_uri, 'log', '--patch', '--text', `main..${branch}`)
    expect(history).not.toContain(stack.config.storage.secret_key)
    for (const [path, text] of Object.entries(files))
      expect(await stack.git(repo_uri, 'show', `${branch}:${path}`)).toBe(text)
    return stoppedBy
  })
