import { describe, expect, it } from 'vitest'
import { deriveProjectId, readManagedState } from '../../../../src/plan/state/managed-state.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { said, scriptedLlm } from '../../../pipeline/steps/scripted-llm.ts'
import { applyReports, applyRound, contextOf, sessionWithPlan } from '../../modes/apply-world.ts'
import { textsOf } from '../../modes/artifacts.ts'
import { done, GATES, goodRound, MAIN, write } from '../../modes/scripts.ts'
import { engineBeside, firstRound, startStack } from '../../modes/stack.ts'

const stack = startOnce(startStack)

const PASSPHRASE = 'a-passphrase-of-this-check-1'
const encryption = (plan: boolean, passphrase = PASSPHRASE) => `variable "passphrase" {
  type      = string
  sensitive = true
  default   = "${passphrase}"
}
terraform {
  encryption {
    key_provider "pbkdf2" "main" {
      passphrase = var.passphrase
      # The fewest that are allowed: the check is not about strength.
      iterations = 200000
    }
    method "aes_gcm" "main" {
      keys = key_provider.pbkdf2.main
    }
    state {
      method   = method.aes_gcm.main
      enforced = true
    }
${plan ? '    plan {\n      method   = method.aes_gcm.main\n      enforced = true\n    }\n' : ''}  }
}
`

const storedState = async (repo_uri: string) => {
  const { stateStore } = stack.context(scriptedLlm({}))
  const id = await deriveProjectId(repo_uri, 'acme-test', null)
  const bytes = await stateStore?.get(`${id}/${stack.config.storage.engine_state_filename}`, {})
  return new TextDecoder().decode(bytes)
}

describe.each([
  ['the state', false],
  ['state and plan', true],
])('a root that encrypts %s', (_, plan) => {
  it('is generated, pinned and applied, and drift is found in it', async () => {
    const context = contextOf(stack)
    const files = { 'main.tf': MAIN, 'encryption.tf': encryption(plan) }
    const { uuid, repo_uri, failures } = await sessionWithPlan(stack, context, files)
    expect(failures).toEqual([])
    const session = await applyRound(stack, context, uuid)
    expect(session.failures).toEqual([])
    expect(session.statuses.at(-1)).toBe('completed')
    const [report] = await applyReports(stack, uuid)
    expect(report).toMatchObject({ status: 'Success', summary: { created: 1 } })

    const text = await storedState(repo_uri)
    expect(JSON.parse(text)).toMatchObject({ encrypted_data: expect.any(String), serial: expect.any(Number) })
    expect(text).not.toContain('hello again')
    const state = await readManagedState(context, await deriveProjectId(repo_uri, 'acme-test', null))
    expect(state?.serial).toBeGreaterThan(0)
    expect(state?.lineage).not.toBe('')
  })

  it('notices at the apply that the state has moved', async () => {
    const context = contextOf(stack)
    const files = { 'main.tf': MAIN, 'encryption.tf': encryption(plan) }
    const { uuid, repo_uri } = await sessionWithPlan(stack, context, files)
    await (await engineBeside(stack, repo_uri)).apply()
    const session = await applyRound(stack, context, uuid)
    const [report] = await applyReports(stack, uuid)
    expect([session.statuses.at(-1), report?.summary.created ?? 0]).not.toEqual(['completed', 1])
    expect(JSON.stringify([session.messages, report])).toMatch(/state/i)
  })

  it('shows its passphrase nowhere', async () => {
    const context = stack.context(scriptedLlm(goodRound()), { orchestration: GATES })
    const repo_uri = await stack.repository({ 'main.tf': MAIN, 'encryption.tf': encryption(plan) })
    const session = await firstRound(stack, context, { repo_uri })
    expect(session.statuses.at(-1)).toBe('completed')
    for (const kind of ['plan', 'report', 'check'] as const)
      expect((await textsOf(stack, session.uuid, kind)).join('\n')).not.toContain(PASSPHRASE)
  })
})

it('a round whose code no longer opens the state ends with what is wrong, without the passphrase', async () => {
  const context = contextOf(stack)
  const { uuid, repo_uri } = await sessionWithPlan(stack, context, {
    'main.tf': MAIN,
    'encryption.tf': encryption(false),
  })
  await applyRound(stack, context, uuid)
  const llm = scriptedLlm(
    goodRound({
      task_complete: [
        write('encryption.tf', encryption(false, 'another-passphrase-of-it')),
        done('Changed.'),
        done('Nothing else to do.'),
        done('Nothing else to do.'),
      ],
    }),
  )
  const session = await firstRound(stack, stack.context(llm, { orchestration: GATES }), { repo_uri })
  expect(session.statuses.slice(-2)).toEqual(['validating', 'failed'])
  expect(session.messages.at(-1)).toMatch(
    /^runner failed: Nothing was planned: .*decryption failed for all provided methods/,
  )
  const told = said(llm.of('task_complete').at(-1))
  expect(told).toContain('decryption failed')
  expect(told.replace(encryption(false), '')).not.toContain('another-passphrase-of-it')
})
