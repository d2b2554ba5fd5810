import { expect, it } from 'vitest'
import { describeAdditions, findAdditions } from '../../../src/rules/intent/additions.ts'
import { readStatements } from '../../../src/rules/intent/statement.ts'
import { planWith } from '../../plan/fixtures.ts'

const block = (address: string, references: string[] = []) => {
  const [type = '', name = ''] = address.split('.')
  return { address, type, name, mode: 'managed', expressions: { input: { references } } }
}
const change = (address: string, action = 'create') => {
  const [, type = '', name = '', index] = /^(\w+)\.(\w+)(?:\[(\d)\])?$/.exec(address) ?? []
  return { address, type, name, mode: 'managed', ...(index && { index: Number(index) }), change: { actions: [action] } }
}
const PLAN = planWith({
  resource_changes: [
    ...['a_cluster.main', 'a_network.main', 'a_subnet.one[0]', 'a_subnet.one[1]', 'a_alarm.cpu', 'a_old.kept'].map(
      (address) => change(address),
    ),
    change('a_key.own', 'update'),
  ],
  configuration: {
    root_module: {
      resources: [
        block('a_cluster.main', ['a_subnet.one[*].id', 'a_subnet.one']),
        block('a_subnet.one', ['a_network.main.id', 'a_network.main']),
        block('a_network.main'),
        block('a_alarm.cpu', ['a_cluster.main.id', 'a_cluster.main']),
        block('a_old.kept'),
        block('a_key.own'),
      ],
    },
  },
})
const isWritten = (type: string) => type !== 'a_old'
const find = (...statements: object[]) => findAdditions(readStatements(statements).statements, PLAN, isWritten)
const CLUSTER = { kind: 'resource_count', type: 'a_cluster', action: 'create', op: 'at_least', value: '1', text: 'One' }

it('what the round wrote and no statement asks for is an addition, with what needs it', () => {
  expect(find(CLUSTER)).toEqual([
    { address: 'a_network.main', needed_by: 'a_cluster.main' },
    { address: 'a_subnet.one', needed_by: 'a_cluster.main' },
    { address: 'a_alarm.cpu', needed_by: null },
  ])
})

it('what a statement is about is none', () => {
  const subnet = { kind: 'attribute', type: 'a_subnet', path: 'zone', op: 'eq', value: 'a', text: 'In a' }
  const others = { kind: 'no_changes_outside', types: ['a_network', 'a_alarm'], text: 'Nothing else' }
  expect(find(CLUSTER, subnet)).toHaveLength(2)
  expect(find(CLUSTER, subnet, others)).toEqual([])
})

it.each([
  ['nothing', []],
  ['that something goes', [{ ...CLUSTER, action: 'delete' }]],
  ['that nothing is destroyed', [{ kind: 'no_deletions', text: 'Keep all' }]],
  ['something that the plan does not have', [{ ...CLUSTER, type: 'a_queue' }]],
])('statements that say %s tell no additions', (_, statements) => {
  expect(find(...statements)).toEqual([])
})

it('additions are named with how to refuse them', () => {
  expect(describeAdditions(find(CLUSTER).slice(1))).toBe(
    'The request does not name these. To refuse one, ask next for: Leave out a_subnet.one.\n' +
      '- a_subnet.one, which a_cluster.main refers to\n- a_alarm.cpu',
  )
  const many = Array.from({ length: 25 }, (_, index) => ({ address: `a_b.c${index}`, needed_by: null }))
  expect(describeAdditions(many)).toContain('\n- and 5 more')
  expect(describeAdditions([])).toBe('')
})
