import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { applyRound, contextOf, managedState, sessionWithPlan } from '../modes/apply-world.ts'
import { goodRound, MAIN } from '../modes/scripts.ts'
import { firstRound, planPath, startStack } from '../modes/stack.ts'
import { attack } from './attack.ts'
import { gitDirectoryFiles, plantRepository } from './hostile-git.ts'

const stack = startOnce(startStack)

const GROUP = 'whole rounds on hostile repositories'
let mark = ''
beforeEach(() => {
  mark = join(stack.config.paths.upload_folder, '..', `ran-${crypto.randomUUID()}`)
})

attack(GROUP, 'a committed git directory named as iac_path', async () => {
  const repo_uri = await stack.repository({ ...gitDirectoryFiles('live', mark), 'live/main.tf': MAIN })
  const session = await firstRound(stack, stack.context(scriptedLlm(goodRound())), { repo_uri, iac_path: 'live' })
  expect(session.statuses.at(-1)).toBe('failed')
  expect(session.messages.at(-1)).toMatch(/^runner failed: iac_path 'live' is not a directory inside the repository/)
  expect(existsSync(mark)).toBe(false)
  expect(await readdir(join(stack.config.paths.upload_folder, session.uuid))).toEqual([])
  return String(session.messages.at(-1))
})

attack(GROUP, 'a committed git directory beside the engine root', async () => {
  const repo_uri = await stack.repository({ ...gitDirectoryFiles('module', mark), 'live/main.tf': MAIN })
  const session = await firstRound(stack, stack.context(scriptedLlm(goodRound())), { repo_uri, iac_path: 'live' })
  expect(session.failures).toEqual([])
  expect(session.statuses.at(-1)).toBe('completed')
  expect(existsSync(mark)).toBe(false)
  expect(await readdir(planPath(stack, session.uuid))).not.toContain('module')
  expect(await stack.git(repo_uri, 'diff', '--name-only', 'main', session.branch)).toBe('live/second.tf\n')
  return 'the folder is taken out of the work tree, and the round goes on'
})

attack(GROUP, 'a repository with programs in the directory of a saved plan, then the apply', async () => {
  const context = contextOf(stack)
  const { uuid, repo_uri } = await sessionWithPlan(stack, context)
  expect(await readdir(planPath(stack, uuid))).not.toContain('.git')
  await plantRepository(planPath(stack, uuid), mark)
  const session = await applyRound(stack, context, uuid)
  expect(session.messages.at(-1)).toContain('The files beside the pinned plan are not the reviewed ones')
  expect(await managedState(context, repo_uri)).toEqual([])
  expect(existsSync(mark)).toBe(false)
  return 'an apply asks git for nothing, and the seal covers every file beside the plan'
})
