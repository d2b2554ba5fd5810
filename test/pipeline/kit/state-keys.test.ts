import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StateKeySource } from '../../../src/data/storage/state-keys.ts'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { createSteps } from '../steps/support.ts'

const steps = startOnce(createSteps)
let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'keys-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const MINUTE_MS = 60_000
const file = () => readFile(join(root, '.platform-state-credentials'), 'utf8')

/** Creates a run with a settable clock, and lists the projects whose keys were requested. */
async function world() {
  const time = { now: Date.parse('2026-01-01T00:00:00Z') }
  const asked: string[] = []
  const stateKeys: StateKeySource = {
    issue: async (projectId) => {
      asked.push(projectId)
      const number = asked.length
      const expires = new Date(time.now + 65 * MINUTE_MS)
      return {
        access_key: `ASIA${number}`,
        secret_key: `temporary-${number}`,
        session_token: `token-of-${number}`,
        expires,
      }
    },
  }
  const made = await steps.world({ context: { stateKeys, now: () => new Date(time.now) } })
  Object.assign(made.workspace, { clone: root, iacRoot: root })
  return { ...made, asked, time }
}

describe('keys of the jobs of a run', () => {
  it('are written for the project of the session, for this user alone, before the engine opens the state', async () => {
    const { kit, run, asked, jobs } = await world()
    await kit.engine.run('validate', { workspace_path: root })
    expect(asked).toEqual([])
    await kit.engine.run('state_resource_ids', { workspace_path: root })
    const { scope_id, workspace } = run.round.session
    expect(asked).toEqual([await deriveProjectId(workspace.uri, scope_id, workspace.root_path)])
    expect(jobs.map(({ kind }) => kind)).toEqual(['validate', 'state_resource_ids'])
    expect(await file()).toBe(
      '[platform-state]\naws_access_key_id = ASIA1\n' +
        'aws_secret_access_key = temporary-1\naws_session_token = token-of-1\n',
    )
    expect((await stat(join(root, '.platform-state-credentials'))).mode & 0o777).toBe(0o600)
  })

  it('are renewed when they would not last for another job, and only then', async () => {
    const { kit, asked, time } = await world()
    const open = () => kit.engine.run('state_resource_ids', { workspace_path: root })
    await open()
    time.now += 5 * MINUTE_MS
    await open()
    expect(asked).toHaveLength(1)
    time.now += 1
    await open()
    expect(asked).toHaveLength(2)
    expect(await file()).toContain('temporary-2')
  })

  it('are masked', async () => {
    const { kit } = await world()
    await kit.engine.run('state_resource_ids', { workspace_path: root })
    expect(kit.secrets.text('key temporary-1 and token-of-1')).toBe('key (sensitive value) and (sensitive value)')
  })

  it('that cannot be had keep the job from being submitted', async () => {
    const { kit, run, jobs } = await world()
    run.context.stateKeys = { issue: () => Promise.reject(new Error('refused')) }
    await expect(kit.engine.run('state_resource_ids', { workspace_path: root })).rejects.toThrow('refused')
    expect(jobs).toEqual([])
  })
})
