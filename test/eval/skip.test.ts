import { expect, it } from 'vitest'
import { readScenario } from '../../eval/scenario/scenario.ts'
import { selectRunnable } from '../../eval/skip.ts'
import type { EngineRoots } from '../../eval/stack.ts'

const scenario = (name: string, providers: string[], more: object = {}) =>
  readScenario(name, {
    cloud: 'gcp',
    request: 'a',
    repository: { files: { 'main.tf': '' } },
    providers,
    expect: { status: 'completed' },
    ...more,
  })

it('a scenario whose provider the engine cannot fetch is left out by its name, and each provider is asked for once', async () => {
  const asked: string[] = []
  const roots: Pick<EngineRoots, 'initFault'> = {
    initFault: async (files, cloud) => {
      const source = /"hashicorp\/(\w+)"/.exec(files['main.tf'] ?? '')?.[1] ?? ''
      asked.push(`${source} ${cloud}`)
      return source === 'tls' ? 'no registry' : null
    },
  }
  const scenarios = [
    scenario('random/one', ['random']),
    scenario('tls/one', ['random', 'tls'], { cloud: 'aws' }),
    scenario('tls/two', ['tls']),
    scenario('builtin/one', []),
  ]
  const { runnable, skipped } = await selectRunnable(scenarios, {
    scripted: false,
    env: {},
    roots: roots as EngineRoots,
    signal: new AbortController().signal,
  })
  expect(runnable.map(({ name }) => name)).toEqual(['random/one', 'builtin/one'])
  expect(skipped).toEqual([
    { scenario: 'tls/one', reason: 'the engine cannot fetch the provider of tls' },
    { scenario: 'tls/two', reason: 'the engine cannot fetch the provider of tls' },
  ])
  expect(asked).toEqual(['random gcp', 'tls aws'])
})

it('with the scripted model, providers come from a mirror alone', async () => {
  const roots = { initFault: async () => null } as Partial<EngineRoots> as EngineRoots
  const recorded = scenario('random/one', ['random'], { recorded: true })
  const select = (env: Record<string, string>) =>
    selectRunnable([recorded], { scripted: true, env, roots, signal: new AbortController().signal })
  expect((await select({})).skipped).toMatchObject([{ reason: expect.stringContaining('IAC_PROVIDER_MIRROR') }])
  expect((await select({ IAC_PROVIDER_MIRROR: '/mirror' })).runnable).toEqual([recorded])
})

it('a provider that nobody knows is refused', () => {
  expect(() => scenario('x/one', ['vsphere'])).toThrow(/providers/)
})
