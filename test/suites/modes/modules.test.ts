import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { createIacClient } from '../../../src/services/iac/client.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { ADDED, done, MAIN, write } from './scripts.ts'
import { runGenerate, startStack } from './stack.ts'

const stack = startOnce(startStack)

const call = (source: string) => `module "said" {\n  source = "${source}"\n}\n`
const OUTPUT = 'output "said" {\n  value = "hello"\n}\n'

/** Adds a private repository with a module on the host of the sessions. Returns its source. */
const addModule = async (main: string) => {
  const content = { files: { 'main.tf': main } }
  const name = `module-${crypto.randomUUID()}`
  return `git::${await stack.git_host.addRepository({ owner: 'acme', name, content, private: true })}`
}
const withModule = (source: string) => ({ files: { 'main.tf': MAIN, 'said.tf': call(source) } })
const attempts = (statuses: readonly string[]) => statuses.filter((status) => status === 'generating').length

/** A client whose requests have another token for modules. */
const withToken = (token: string) =>
  createIacClient(stack.config.services.iac, {
    log: silentLogger,
    fetch: (input, init) => {
      const { body } = init ?? {}
      if (typeof body !== 'string') return fetch(input, init)
      return fetch(input, { ...init, body: body.replaceAll('token-of-the-git-host', token) })
    },
  })

describe('a module that the repository had', () => {
  it('is fetched from a private repository of the same host with the token of the session', async () => {
    const { session } = await runGenerate(stack, {}, { request: withModule(await addModule(OUTPUT)) })
    expect(session.messages.at(-1)).toBe('GENERATE')
  })

  it('ends the round at its first attempt where the token is refused, and shows none', async () => {
    const source = await addModule(OUTPUT)
    const { session } = await runGenerate(stack, {}, { request: withModule(source), iac: withToken('another-token') })
    expect(attempts(session.statuses)).toBe(1)
    expect(session.messages.at(-1)).toContain(
      `runner failed: No change of the code can mend this. The engine cannot fetch the module "said" (said.tf:1) from ` +
        `${source}: it does not exist, or the iac service may not read it. Give the service credentials for the host ` +
        '(IAC_MODULE_CREDENTIALS)',
    )
    expect(JSON.stringify(session)).not.toContain('another-token')
  })

  it('ends the round at its first attempt where the host is not reached', async () => {
    const { session } = await runGenerate(stack, {}, { request: withModule('git::https://127.0.0.1:1/acme/said.git') })
    expect(attempts(session.statuses)).toBe(1)
    expect(session.messages.at(-1)).toContain('from git::https://127.0.0.1:1/acme/said.git: the host is not reached.')
  })

  it('ends the round at its first attempt for what it would read of the machine', async () => {
    const source = await addModule('output "said" {\n  value = file("/etc/motd")\n}\n')
    const { llm, session } = await runGenerate(stack, {}, { request: withModule(source) })
    expect(attempts(session.statuses)).toBe(1)
    expect(llm.of('task_complete').every((request) => !said(request).includes('refused'))).toBe(true)
    expect(session.messages.at(-1)).toMatch(
      /^runner failed: The code of the repository has .* in \.terraform\/modules\/said\/main\.tf line 2 \(the path is absolute/,
    )
  })
})

it('a module that the session wrote and that cannot be fetched is for the model to mend', async () => {
  const task_complete = [
    write('second.tf', ADDED + call('git::https://127.0.0.1:1/acme/said.git')),
    done('With a module.'),
    write('second.tf', ADDED),
    done('Without it.'),
  ]
  const { llm, session } = await runGenerate(stack, { task_complete })
  expect(session.statuses.at(-1)).toBe('completed')
  expect(said(llm.of('task_complete')[2])).toContain('Failed to download module')
})
