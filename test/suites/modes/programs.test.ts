import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withTemporaryFolder } from '../../../dev/files.ts'
import { gitOrThrow } from '../../../dev/git-host/repositories.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { ADDED, done, goodRound, MAIN, THIRD, write } from './scripts.ts'
import { nextRound, runFirst, runGenerate, type SessionRequest, startStack } from './stack.ts'

const stack = startOnce(startStack)

const EXTERNAL = 'data "external" "who" {\n  program = ["whoami"]\n}\n'
const CONFIG_PATH = 'provider "kubernetes" {\n  config_path = "~/.kube/config"\n}\n'
const OLD = { 'main.tf': MAIN, 'net/main.tf': EXTERNAL, 'call.tf': 'module "net" {\n  source = "./net"\n}\n' }

/** Runs a first round with a model that must not be asked. */
const unasked = async (request: SessionRequest) => {
  const { llm, session } = await runFirst(stack, {}, { request })
  expect(llm.requests).toEqual([])
  return session
}

describe('programs that the repository had before the session', () => {
  it.each([
    ['generate', false],
    ['drift', false],
    ['drift', true],
    ['import', false],
    ['import', true],
  ] as const)('end a round of %s, partial: %s, before a model is asked', async (mode, is_partial) => {
    const files = { ...OLD, 'provider.tf': CONFIG_PATH }
    const session = await unasked({ mode, is_partial, files })
    expect(session.statuses).toEqual(['started', 'failed'])
    const { hostname, pathname } = new URL(session.repo_uri)
    const at = `${hostname}${pathname.replace(/\.git$/, '')}`
    expect(session.messages.at(-1)).toBe(
      'runner failed: The code of the repository has what the iac service refuses to run, and had it before this ' +
        'session: provider "kubernetes" with config_path in provider.tf line 2 (it reads credentials of the host, and a ' +
        'file or program that is named there); data "external" in net/main.tf line 1 (it would run a program on the ' +
        'machine that runs the engine). An operator of the iac service can allow it with ' +
        `IAC_ALLOW_PROGRAMS=credentials:${at},external:${at}. No model was asked to remove it.`,
    )
  })

  it('end a preview without failing the session', async () => {
    const session = await unasked({ mode: 'drift', preview: true, files: OLD })
    expect(session.statuses.at(-1)).toBe('uncompleted')
    expect(session.messages.at(-1)).toMatch(/^The preview could not be made: The code of the repository has what/)
  })

  it('name the setting for all when one has no kind', async () => {
    const files = { 'main.tf': 'module "host" {\n  source = "/etc"\n}\n', 'old.tf': EXTERNAL }
    const { messages } = await unasked({ files })
    expect(messages.at(-1)).toMatch(/with IAC_ALLOW_\S+ and IAC_ALLOW_\S+\. No model/)
    expect(messages.at(-1)).toContain('IAC_ALLOW_HOST_PROGRAMS=true')
  })

  it('do not concern a round where they run nothing', async () => {
    const cloud =
      'terraform {\n  cloud {\n    organization = "acme"\n    workspaces {\n      name = "x"\n    }\n  }\n}\n'
    const provisioner = MAIN.replace('}\n', '  provisioner "local-exec" {\n    command = "true"\n  }\n}\n')
    const files = { 'main.tf': provisioner, 'cloud.tf': cloud }
    // A state may lie at the service that the code names, so the request says what becomes of it.
    const { session } = await runGenerate(stack, {}, { request: { files, state: 'new' } })
    expect(session.statuses.at(-1)).toBe('completed')
  })
})

const commitOn = (repo_uri: string, branch: string, name: string, text: string) =>
  withTemporaryFolder(async (folder) => {
    await gitOrThrow(['clone', '--quiet', '--branch', branch, stack.git_host.pathOf(repo_uri), folder])
    await writeFile(join(folder, name), text)
    await gitOrThrow(['add', name], { cwd: folder })
    await gitOrThrow(['commit', '--quiet', '--message', 'By hand'], { cwd: folder })
    await gitOrThrow(['push', '--quiet', 'origin', 'HEAD'], { cwd: folder })
  })

describe('programs that the session wrote', () => {
  it('are for the model to replace', async () => {
    const task_complete = [
      write('second.tf', `${ADDED}${EXTERNAL}`),
      done('With a program.'),
      write('second.tf', ADDED),
      done('Without it.'),
    ]
    const { llm, session } = await runGenerate(stack, { task_complete })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(said(llm.of('task_complete')[2])).toContain('Program on the engine host refused')
  })

  it('in an earlier round are as well', async () => {
    const { context, session } = await runGenerate(stack)
    await commitOn(session.repo_uri, session.branch, 'who.tf', EXTERNAL)
    const llm = scriptedLlm(
      goodRound({
        ...THIRD,
        task_complete: [
          done('Nothing.'),
          { calls: [['delete_file', { target_file: 'who.tf' }]] },
          write('third.tf', ADDED.replace('second', 'third')),
          done('Removed the program.'),
        ],
      }),
    )
    const second = await nextRound(stack, { ...context, llm }, session.uuid, 'Add a third greeting')
    expect(said(llm.of('task_complete')[1])).toContain('Program on the engine host refused')
    expect(second.statuses.at(-1)).toBe('completed')
  })
})

it('a service that does not offer the check is not asked', async () => {
  const { iac } = stack.context(scriptedLlm({}))
  const { llm, session } = await runGenerate(
    stack,
    {},
    { iac: { ...iac, programs: undefined }, request: { files: OLD } },
  )
  expect(llm.of('task_complete')).not.toEqual([])
  expect(session.messages.at(-1)).toMatch(/^Nothing was planned: the engine does not accept the code because of errors/)
})
