import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { applyReports, applyRound, contextOf, managedState, sessionWithPlan } from './apply-world.ts'
import { storeClient } from './artifacts.ts'
import { MAIN, STATE } from './scripts.ts'
import { firstRound, planPath, startStack } from './stack.ts'

const MINUTE_MS = 60_000
/** Difference of the store's clock from the engine's. More than 15 minutes would make signatures invalid. */
let aheadMs = 0
const storeClock = () => new Date(Date.now() + aheadMs)
const stack = startOnce(() => startStack({ state_credentials: 'scoped', job_timeout: 600, storeClock }))

const keysOf = (uuid: string) => {
  const path = join(planPath(stack, uuid), '.platform-state-credentials')
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}

/** Returns the store's answer to a listing with the keys of a file. */
async function answerTo(keys: string): Promise<string> {
  const { endpoint_url, engine_state_bucket } = stack.config.storage
  return await (await storeClient(keys).fetch(`${endpoint_url}/${engine_state_bucket}`)).text()
}

it('rounds with keys for the state of their own project plan and apply, also when those of planning time have run out', async () => {
  const context = contextOf(stack)
  // Keys last for 15 minutes by the store's clock.
  aheadMs = -14 * MINUTE_MS
  const session = await sessionWithPlan(stack, context)
  const planningKeys = keysOf(session.uuid)
  expect(planningKeys).toMatch(/^\[platform-state\]\naws_access_key_id = ASIA/)
  let applyKeys: string | null = null
  const { iac } = context
  const submit: typeof iac.submit = async (kind, body, signal) => {
    if (kind === 'apply') applyKeys = keysOf(session.uuid)
    return await iac.submit(kind, body, signal)
  }
  aheadMs = 14 * MINUTE_MS
  const applied = await applyRound(stack, { ...context, iac: { ...iac, submit } }, session.uuid)
  expect(applied.statuses.at(-1)).toBe('completed')
  expect((await applyReports(stack, session.uuid)).at(-1)?.status).toBe('Success')
  expect(await managedState(context, session.repo_uri)).toEqual(['terraform_data.second'])
  expect(await answerTo(planningKeys ?? '')).toMatch(/ExpiredToken/)
  expect(await answerTo(applyKeys ?? '')).toMatch(/AccessDenied/)
})

it('a state that exists elsewhere is adopted with keys for its project', async () => {
  aheadMs = 0
  const context = contextOf(stack)
  const files = { 'main.tf': MAIN, 'terraform.tfstate': STATE }
  const session = await firstRound(stack, context, { files, state: 'adopt' })
  expect(session.statuses.at(-1)).toBe('completed')
  expect(await managedState(context, session.repo_uri)).toEqual(['terraform_data.greeting'])
})
