import { existsSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { type FakeRegistry, startFakeRegistry } from './fake-registry.ts'
import { lastMessage, provideWorld, startWorld, type World } from './world.ts'

describe('small limits, gates off, unmanaged state, a model behind ANTHROPIC_BASE_URL', () => {
  const world = provideWorld({
    orchestration: { enable_compliance_checker: false, block_on_high_impact: false, max_drift_reports: 0 },
    iac: { job_poll_interval: 0.2, job_timeout: 1.5 },
    storage: { engine_state_bucket: '' },
    llm: { model: 'anthropic/claude-main', small_model: 'anthropic/claude-small' },
    model_variables: (url) => ({ ANTHROPIC_API_KEY: 'key-of-the-model', ANTHROPIC_BASE_URL: url }),
    notifications: false,
  })

  it('a round completes without an audit, without an override, without a notification', async () => {
    let override: boolean | null = null
    world.sidecar.script = ({ kind, body }) => {
      if (kind === 'init') override = existsSync(`${body.workspace_path}/backend_override.tf`)
      return undefined
    }
    const session = await world.first('generate')
    expect(lastMessage(session)).toBe('GENERATE')
    expect(override).toBe(false)
    expect(world.model.of('report_compliance_findings')).toEqual([])
    expect(session.rounds[0]?.compliance_checks).toEqual([])
    expect(new Set(world.model.calls.map(({ model }) => model))).toEqual(new Set(['claude-main', 'claude-small']))
    for (const { authorization } of world.model.calls) expect(authorization).toBe('Bearer key-of-the-model')
    expect(world.notifications.received).toEqual([])
  })

  it('a job that never ends fails the round after the limit', async () => {
    world.sidecar.script = ({ kind }) => (kind === 'plan' ? 'endless' : undefined)
    const session = await world.first('generate')
    expect(lastMessage(session)).toMatch(/^runner failed: IaC job [0-9a-f-]{36} did not finish within 1\.5s\.$/)
  })

  it('several slow jobs, each with a limit of its own, polled until they end', async () => {
    world.sidecar.busy_polls = 4
    expect(lastMessage(await world.first('generate'))).toBe('GENERATE')
    expect(world.sidecar.polls).toBe(4 * 5)
  })
})

describe('a sidecar that is not there', () => {
  it('fails the round, not the request', async () => {
    const world = await startWorld()
    await world.sidecar.close()
    const session = await world.first('generate')
    expect(session.current_status).toBe('failed')
    expect(lastMessage(session)).toMatch(/^runner failed: /)
    expect((await world.notified(1)).map(({ kind }) => kind)).toEqual(['system.exception.failure'])
    await world.close()
  })
})

describe('a prompt registry', () => {
  let registry: FakeRegistry
  let world: World
  beforeAll(async () => {
    registry = await startFakeRegistry()
    world = await startWorld({ document: { telemetry: { collector_url: `${registry.url}/` }, environment: 'staging' } })
  })
  beforeEach(() => world.reset())
  afterAll(async () => {
    await world?.close()
    await registry.close()
  })

  it('is seeded once with three tags, and asked by the tag of the environment', async () => {
    expect(registry.texts.size).toBeGreaterThan(90)
    expect(registry.tags.size).toBe(registry.texts.size * 3)
    registry.texts.set('general-guidelines-requests', 'unused')
    registry.requests.length = 0
    expect(lastMessage(await world.first('generate'))).toBe('GENERATE')
    expect(registry.requests).toContain('GET /v1/prompts/general-guidelines-requests/tags/staging')
    expect(registry.requests).toContain('GET /v1/prompts/general-compliance-impact/tags/staging')
    expect(registry.requests.filter((line) => line.startsWith('POST /v1/prompt'))).toEqual([])
    await eventually(() => expect(registry.traces.length).toBeGreaterThan(0))
  })

  it('without a tag fails the round and names the prompt', async () => {
    const kept = new Set(registry.tags)
    for (const tag of kept) if (tag.endsWith(' staging')) registry.tags.delete(tag)
    const session = await world.first('generate')
    for (const tag of kept) registry.tags.add(tag)
    expect(lastMessage(session)).toMatch(/^runner failed: Prompt not found: [a-z_-]+$/)
  })
})
