import { describe, expect, it } from 'vitest'
import { readsTheSame } from '../../src/plan/readings.ts'
import { planOf } from './fixtures.ts'

const object = (address: string, values: object, more = {}) => ({ address, mode: 'managed', values, ...more })
const data = (address: string, values: object) => object(address, values, { mode: 'data' })

/** Makes a plan that read these objects. */
const reading = (resources: object[], rest: Record<string, unknown> = {}, changes: Parameters<typeof planOf>[0] = []) =>
  planOf(changes, {
    terraform_version: '1.11.4',
    prior_state: { values: { root_module: { resources } } },
    configuration: { root_module: {} },
    ...rest,
  })

const BEFORE = [object('a.b', { size: 1 }), data('data.a.b', { id: 'x' })]
const calling = (source: string) => ({
  configuration: { root_module: { module_calls: { m: { source, module: {} } } } },
})

describe('two plans over one state', () => {
  it.each([
    ['equal ones', reading(BEFORE)],
    ['a data source that only the later code has', reading([...BEFORE, data('data.a.new', { id: 'y' })])],
    [
      'an object that the later code moves',
      reading([object('a.c', { size: 1 }), data('data.a.b', { id: 'x' })], {}, [
        { address: 'a.c', previous_address: 'a.b', actions: ['no-op'] },
      ]),
    ],
  ])('read the same: %s', (_, later) => {
    expect(readsTheSame(reading(BEFORE), later)).toBe(true)
  })

  it.each([
    ['an attribute that others have changed', reading([object('a.b', { size: 2 }), data('data.a.b', { id: 'x' })])],
    ['an object that others have deleted', reading([data('data.a.b', { id: 'x' })])],
    ['an object that is there again', reading([...BEFORE, object('a.d', {})])],
    ['a data source that reads something else', reading([object('a.b', { size: 1 }), data('data.a.b', { id: 'y' })])],
    ['a data source that the later plan did not read', reading([object('a.b', { size: 1 })])],
    ['another object of the same address', reading([...BEFORE, object('a.b', { size: 1 }, { deposed_key: 'k' })])],
    ['another engine', reading(BEFORE, { terraform_version: '1.12.0' })],
  ])('do not read the same: %s', (_, later) => {
    expect(readsTheSame(reading(BEFORE), later)).toBe(false)
  })

  it('are never the same with a module that is not in the repository', () => {
    const [local, remote] = ['../modules/m', 'acme/m/aws'].map((source) => reading(BEFORE, calling(source)))
    if (!local || !remote) throw new Error('no plan')
    expect(readsTheSame(local, reading(BEFORE))).toBe(true)
    expect(readsTheSame(remote, reading(BEFORE, calling('acme/m/aws')))).toBe(false)
  })
})
