import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { planTargets } from '../../../pipeline/steps/plan/plan.ts'
import type { StateKeySource } from '../../../src/data/storage/state-keys.ts'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'
import type { IacClient } from '../../../src/services/iac/contract.ts'
import { useFolder } from '../../helpers/folder.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { calmEngine, createSteps, type EngineScript } from '../steps/support.ts'

const steps = startOnce(createSteps)
const folder = useFolder()

const MINUTE_MS = 60_000
const file = () => readFile(join(folder.path, '.platform-state-credentials'), 'utf8')

/** Creates a run with a settable clock, and lists the projects whose keys were requested. */
async function world() {
  const time = { now: Date.parse('2026-01-01T00:00:00Z') }
  const asked: string[] = []
  const stateKeys: StateKeySource = {
    issue: async (projectId) => {
      asked.push(projectId)
      const number = asked.length
      const expires = new Date(time.now + 65 * MINUTE_MS)
      const keys = { access_key: `ASIA${number}`, secret_key: `temporary-${number}` }
      return { ...keys, session_token: `token-of-${number}`, expires }
    },
  }
  const made = await steps.world({ context: { stateKeys, now: () => new Date(time.now) } })
  Object.assign(made.workspace, { clone: folder.path, iacRoot: folder.path })
  return { ...made, asked, time }
}

describe('a validation', () => {
  const finding = { severity: 'error', summary: 'Unsupported argument', detail: 'An argument named "nope".' }
  const document = JSON.stringify({ valid: false, diagnostics: [finding] })
  const asked: string[] = []
  const noting = (job: string): [] => {
    asked.push(job)
    return []
  }
  const additions: Partial<IacClient> = {
    diagnostics: async () => noting('diagnostics'),
    programs: async () => noting('programs'),
  }
  const validated = (engine: EngineScript) => steps.world({ engine, additions })

  it('is asked for as data once, and shown as text', async () => {
    asked.length = 0
    const { kit, jobs } = await validated(() => ({ exit_code: 1, stdout: document, stderr: '' }))
    const result = await kit.engine.run('validate', kit.engine.place)
    expect(jobs).toEqual([{ kind: 'validate', body: expect.objectContaining({ json: true }) }])
    expect(result.stderr).toBe('\nError: Unsupported argument\n\nAn argument named "nope".\n')
    expect(await kit.engine.diagnostics()).toEqual([finding])
    expect(asked).toEqual([])
  })

  it('that the service refuses is asked for its programs, and has no data', async () => {
    asked.length = 0
    const { kit } = await validated(() => ({ exit_code: 1, stdout: '', stderr: 'Error: Refused\n' }))
    const result = await kit.engine.run('validate', kit.engine.place)
    expect(result.stderr).toBe('Error: Refused\n')
    expect(await kit.engine.diagnostics()).toEqual([])
    expect(asked).toEqual(['programs', 'diagnostics'])
  })
})

describe('keys of the jobs of a run', () => {
  it('are written for the project of the session, for this user alone, before the engine opens the state', async () => {
    const { kit, run, asked, jobs } = await world()
    await kit.engine.run('validate', { workspace_path: folder.path })
    expect(asked).toEqual([])
    await kit.engine.run('state_resource_ids', { workspace_path: folder.path })
    const { scope_id, workspace } = run.round.session
    expect(asked).toEqual([await deriveProjectId(workspace.uri, scope_id, workspace.root_path)])
    expect(jobs.map(({ kind }) => kind)).toEqual(['validate', 'state_resource_ids'])
    expect(await file()).toBe(
      '[platform-state]\naws_access_key_id = ASIA1\n' +
        'aws_secret_access_key = temporary-1\naws_session_token = token-of-1\n',
    )
    expect((await stat(join(folder.path, '.platform-state-credentials'))).mode & 0o777).toBe(0o600)
  })

  it('are renewed when they would not last for another job, and only then', async () => {
    const { kit, asked, time } = await world()
    const open = () => kit.engine.run('state_resource_ids', { workspace_path: folder.path })
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
    await kit.engine.run('state_resource_ids', { workspace_path: folder.path })
    expect(kit.secrets.text('key temporary-1 and token-of-1')).toBe('key (sensitive value) and (sensitive value)')
  })

  it('that cannot be had keep the job from being submitted', async () => {
    const { kit, run, jobs } = await world()
    run.context.stateKeys = { issue: () => Promise.reject(new Error('refused')) }
    await expect(kit.engine.run('state_resource_ids', { workspace_path: folder.path })).rejects.toThrow('refused')
    expect(jobs).toEqual([])
  })
})

const TITLE = `╷
│ Error: Error acquiring the state lock
│ 
│ Error message: operation error S3: PutObject, https response error`
const REFUSED = `${TITLE} StatusCode: 403, api error AccessDenied: no`
const GONE = `${TITLE} StatusCode: 412, api error PreconditionFailed: the object exists
│ Unable to retrieve item from S3: NoSuchKey`
const HELD = `Error: Error acquiring the state lock

Error message: resource temporarily unavailable
Lock Info:
  ID:        ada62244-0648-236f-0f08-6e882bc31eda
  Operation: OperationTypeApply
`

/** Makes plans fail this way until the given one. */
const locked =
  (stderr: string, until: number): EngineScript =>
  (job, number) =>
    job.kind === 'plan' && number < until ? { exit_code: 1, stderr } : calmEngine()(job, number)

describe('a plan while another round holds the lock of the state', () => {
  it.each([
    ['named', HELD],
    ['gone already', GONE],
  ])('is asked for again until the lock is free, its holder being %s, without another init or validate', async (_, stderr) => {
    const { kit, jobs } = await steps.world({ engine: locked(stderr, 3) })
    expect(await planTargets(kit, [])).toMatchObject({ ok: true })
    expect(jobs.map(({ kind }) => kind)).toEqual(['init', 'validate', 'plan', 'plan', 'plan', 'show'])
  })

  it('ends the round, and asks no model for a repair, when the lock stays', async () => {
    const { kit, run } = await steps.world({ engine: locked(HELD, 1_000) })
    run.context.config.services.iac.job_timeout = 0.3
    await expect(planTargets(kit, [])).rejects.toMatchObject({
      status: 504,
      message: 'The engine state stayed locked by another run for 0.3s.',
    })
  })

  it('ends with the run', async () => {
    const { kit, run } = await steps.world({ engine: locked(HELD, 1_000) })
    const stopped = { ...kit, run: { ...run, signal: AbortSignal.abort(new Error('handed back')) } }
    await expect(planTargets(stopped, [])).rejects.toThrow()
  })

  it('is feedback as any other when the backend refuses the lock to everybody', async () => {
    const { kit, jobs } = await steps.world({ engine: locked(REFUSED, 2) })
    expect(await planTargets(kit, [])).toMatchObject({ ok: false, feedback: REFUSED })
    expect(jobs.filter(({ kind }) => kind === 'plan')).toHaveLength(1)
  })
})
