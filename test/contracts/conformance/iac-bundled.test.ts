import { describe, expect, it, onTestFinished } from 'vitest'
import { readContract } from '../../../contracts/conformance/document.ts'
import { DEFAULTS } from '../../../contracts/conformance/options.ts'
import { runConformance } from '../../../contracts/conformance/run.ts'
import { fakeEngine, startTestService, TOKEN, temporaryFolder } from '../../sidecars/iac/service.ts'
import { brokenOf } from './fakes/serve.ts'

async function judge(env: Record<string, string>, only: string[]) {
  const service = await startTestService(env)
  onTestFinished(() => service.close())
  return runConformance({
    ...DEFAULTS,
    contract: await readContract('iac'),
    url: service.url,
    token: TOKEN,
    seed: 3,
    workspace: service.folder,
    only,
  })
}

describe('the bundled iac service', () => {
  it('conforms with an engine that fails at everything', async () => {
    const outcome = await judge({ IAC_BINARY: await fakeEngine(await temporaryFolder()) }, [
      'health',
      'token.missing',
      'plan.limits',
      'plan.lengths',
      'job.',
      'queue.',
      'submit.',
      'engine.',
    ])
    expect(brokenOf(outcome)).toEqual([])
    expect(outcome.promises.find(({ id }) => id === 'engine.failure')?.outcome).toBe('passed')
    expect(outcome.promises.find(({ id }) => id === 'engine.sequence')?.reason).toContain('does not initialise')
  })

  it('conforms with a real engine, nothing skipped', async () => {
    const outcome = await judge({}, ['queue.', 'engine.', 'addition.', 'fmt.'])
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
      ]),
    )
  })
})
