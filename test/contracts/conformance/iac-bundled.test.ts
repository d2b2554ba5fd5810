import { describe, expect, it } from 'vitest'
import { readContract } from '../../../contracts/conformance/document.ts'
import { DEFAULTS } from '../../../contracts/conformance/options.ts'
import { runConformance } from '../../../contracts/conformance/run.ts'
import { startFakeService, startTestService, type TestService, TOKEN } from '../../sidecars/iac/service.ts'
import { brokenOf } from './fakes/serve.ts'

const judge = async ({ url, folder }: TestService, only: string[] = []) =>
  runConformance({
    ...DEFAULTS,
    contract: await readContract('iac'),
    url,
    token: TOKEN,
    seed: 3,
    workspace: folder,
    only,
  })

describe('the bundled iac service', () => {
  it('conforms with an engine that fails at everything', async () => {
    const outcome = await judge(await startFakeService())
    // Such an engine formats nothing.
    expect(brokenOf(outcome)).toEqual(['addition.fmt'])
    expect(outcome.promises.find(({ id }) => id === 'engine.failure')?.outcome).toBe('passed')
    expect(outcome.promises.find(({ id }) => id === 'engine.sequence')?.reason).toContain('does not initialise')
  })

  it('conforms with a real engine, nothing skipped', async () => {
    const outcome = await judge(await startTestService(), ['queue.', 'engine.', 'addition.', 'fmt.'])
    expect(brokenOf(outcome)).toEqual([])
    const ids = outcome.promises.filter((each) => each.outcome === 'passed').map(({ id }) => id)
    expect(ids).toEqual(
      expect.arrayContaining([
        'queue.order',
        'engine.sequence',
        'engine.targets',
        'engine.import',
        'addition.diagnostics',
        'addition.fmt',
        'fmt.accepts',
        'fmt.limits',
        'addition.schema',
        'addition.state_summary',
        'addition.migrate_state',
        'addition.state_rm',
      ]),
    )
  })
})
