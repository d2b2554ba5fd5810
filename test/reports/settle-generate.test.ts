import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { createMasker, MASK } from '../../src/base/masking.ts'
import { planFacts } from '../../src/plan/change-list.ts'
import { createSecretRegister } from '../../src/plan/sensitive.ts'
import type { BeyondTargets } from '../../src/plan/targets.ts'
import { reportSchemas } from '../../src/reports/schemas.ts'
import { settleGenerateReport } from '../../src/reports/settle-generate.ts'
import { emptyResult } from '../../src/rounds/round-result.ts'
import { planOf } from '../plan/fixtures.ts'

type ModelChanges = { name: string; action: string; summary?: string; notes?: string }[]
const told = (changes: ModelChanges = [], level = 'low', points = [{ title: 'A', description: 'b' }]) =>
  v.parse(reportSchemas.generate, {
    summary: { create: 99, update: 99, delete: 99, recreate: 99 },
    detailed_changes: changes,
    potential_impact: {
      banner: { level, title: 'Impact', description: 'As told.' },
      summary: 'Prose.',
      bullet_points: points,
    },
    estimated_costs: { introduction_paragraph: 'Cheap.' },
  })
const nothing = createMasker([])
const settle = (changes: ModelChanges, planned: Parameters<typeof planOf>[0], masker = nothing) =>
  settleGenerateReport(told(changes), planOf(planned), masker)

describe('settleGenerateReport', () => {
  it('takes counts and actions from the plan and prose from the model', () => {
    const report = settle(
      [
        { name: 'terraform_data.b', action: 'update', summary: 'A quiet change.', notes: 'n' },
        { name: 'terraform_data.a', action: 'delete' },
      ],
      [
        { address: 'terraform_data.a', actions: ['create'] },
        { address: 'terraform_data.b', actions: ['delete', 'create'] },
      ],
    )
    expect(report.summary).toEqual({ create: 1, update: 0, delete: 0, recreate: 1 })
    expect(report.detailed_changes).toEqual([
      { name: 'terraform_data.a', action: 'create', notes: '', summary: 'Will be created.', details: '' },
      { name: 'terraform_data.b', action: 'recreate', notes: 'n', summary: 'A quiet change.', details: '' },
    ])
    expect(report.potential_impact.summary).toBe('Prose.')
    expect(report.potential_impact.bullet_points).toHaveLength(1)
    expect(report.estimated_costs).toMatchObject({ currency: 'USD', introduction_paragraph: 'Cheap.' })
  })

  it('begins with what the round left out or could not check', () => {
    const gap = 'The plan was not checked against the request: the model made no statements of it.'
    const result = { ...emptyResult(), gaps: [gap] }
    const { potential_impact } = settleGenerateReport(told(), planOf([]), nothing, { result })
    expect(potential_impact.summary).toBe(`${gap} Prose.`)
  })

  it('takes the entry with the fullest form of the address, and of equal ones the first', () => {
    const report = settle(
      [
        { name: 'main', action: 'update', summary: 'By name.' },
        { name: '`aws_vpc.main`', action: 'update', summary: 'By type and name.' },
        { name: 'aws_vpc.main', action: 'update', summary: 'Said again.' },
        { name: 'module.net.aws_vpc.main', action: 'update', summary: 'Without its index.' },
      ],
      [
        { address: 'module.net[0].aws_vpc.main', actions: ['update'] },
        { address: 'module.other.aws_vpc.main["a"]', actions: ['update'] },
        { address: 'aws_subnet.main', actions: ['update'] },
      ],
    )
    expect(report.detailed_changes.map(({ summary }) => summary)).toEqual([
      'Without its index.',
      'By type and name.',
      'By name.',
    ])
  })

  it('adds what the model left out and drops what the plan does not change', () => {
    const report = settle([{ name: 'aws_vpc.imagined', action: 'delete' }], [{ address: 'a.b', actions: ['delete'] }])
    expect(report.detailed_changes).toEqual([
      { name: 'a.b', action: 'delete', notes: '', summary: 'Will be destroyed.', details: '' },
    ])
  })

  it('is empty for an empty plan, whatever the model tells', () => {
    const report = settle([{ name: 'a.b', action: 'create' }], [{ address: 'a.b', actions: ['no-op'] }])
    expect(report.detailed_changes).toEqual([])
    expect(report.summary).toEqual({ create: 0, update: 0, delete: 0, recreate: 0 })
  })

  it.each([
    ['in full', 'module.net["a.b"].aws_subnet.x[0]', 'module.net["a.b"].aws_subnet.x[0]'],
    ['in backticks', 'aws_subnet.x', '`aws_subnet.x`'],
    ['without its indexes', 'module.net["a.b"].aws_subnet.x[0]', 'module.net.aws_subnet.x'],
    ['without its module', 'module.net.module.deep.aws_subnet.x', 'aws_subnet.x'],
    ['by its name', 'module.net.aws_subnet.x', 'x'],
  ])('finds a resource named %s', (_, address, name) => {
    const report = settle([{ name, action: 'update', summary: 'Mine.' }], [{ address, actions: ['create'] }])
    expect(report.detailed_changes).toMatchObject([{ name: address, action: 'create', summary: 'Mine.' }])
  })

  it.each([
    ['low', 'high'],
    ['medium', 'high'],
    ['high', 'high'],
  ])('raises %s to %s when a database goes, and says why', (level, expected) => {
    const plan = planOf([{ address: 'aws_db_instance.main', type: 'aws_db_instance', actions: ['delete'] }])
    const { banner } = settleGenerateReport(told([], level), plan, nothing).potential_impact
    expect(banner.level).toBe(expected)
    expect(banner.title).toBe('Impact')
    expect(banner.description.includes('aws_db_instance.main')).toBe(level !== 'high')
  })

  it('never lowers the banner', () => {
    expect(settleGenerateReport(told([], 'high'), planOf([]), nothing).potential_impact.banner).toMatchObject({
      level: 'high',
      description: 'As told.',
    })
  })

  describe('what lies outside the targets', () => {
    const invented = [
      { title: ' OUTSIDE the targets ', description: 'Nothing at all, trust me.' },
      { title: 'B', description: 'kept' },
    ]
    const pointsOf = (beyond: BeyondTargets | null, masker = nothing) =>
      settleGenerateReport(told([], 'low', invented), planOf([]), masker, { beyond }).potential_impact.bullet_points

    it('is told by code, in the place of what the model says', () => {
      const changes = [{ address: 'a.pending', type: 'a', action: 'update' as const }]
      expect(pointsOf({ made: true, changes })).toEqual([
        { title: 'B', description: 'kept' },
        {
          title: 'Outside the targets',
          description:
            'A plan of the whole root would also make a change that this plan leaves out:\n- update a.pending',
        },
      ])
    })

    it('is not told of a plan of the whole root, not even by the model', () => {
      expect(pointsOf(null)).toEqual([{ title: 'B', description: 'kept' }])
    })

    it('shows no secret of an address', () => {
      const changes = [{ address: 'a.b["topsecret1"]', type: 'a', action: 'delete' as const }]
      expect(pointsOf({ made: true, changes }, createMasker(['topsecret1']))[1]?.description).toContain(
        `- delete a.b["${MASK}"]`,
      )
    })
  })

  it('hides sensitive values that the model repeats', () => {
    const report = settle(
      [{ name: 'a.b', action: 'create', summary: 'Password topsecret1.' }],
      [{ address: 'a.b', actions: ['create'] }],
      createMasker(['topsecret1']),
    )
    expect(report.detailed_changes[0]?.summary).toBe(`Password ${MASK}.`)
  })
})

describe('planFacts', () => {
  it('says what is certain', () => {
    const plan = planOf([
      { address: 'terraform_data.a', actions: ['create'] },
      { address: 'aws_db_instance.main', type: 'aws_db_instance', actions: ['delete', 'create'] },
      { address: 'terraform_data.same', actions: ['no-op'] },
    ])
    expect(planFacts(plan, ['aws_db_instance.main'])).toBe(
      '1 to create, 0 to update, 0 to delete, 1 to recreate\ncreate terraform_data.a (not among the targets)\n' +
        'recreate aws_db_instance.main (holds data)',
    )
  })

  it('tells moves, imports and what leaves the state', () => {
    const plan = planOf([
      { address: 'a.new', previous_address: 'a.old', actions: ['no-op'] },
      { address: 'a.left', actions: ['forget'] },
    ])
    expect(planFacts(plan, [])).toBe(
      '0 to create, 0 to update, 0 to delete, 0 to recreate, 1 to move, 1 to forget\n' +
        'move a.new, which was a.old\nforget a.left',
    )
  })

  it('does not know what a type of nobody holds', () => {
    const lost = { address: 'acme_data_set.x', type: 'acme_data_set', actions: ['delete'] }
    expect(planFacts(planOf([lost]), [])).toContain('delete acme_data_set.x (it cannot be told whether it holds data)')
  })

  it('stays short for a plan of thousands of changes', () => {
    const plan = planOf(Array.from({ length: 2_000 }, () => ({ actions: ['create'] })))
    const lines = planFacts(plan, []).split('\n')
    expect(lines).toHaveLength(502)
    expect(lines.at(-1)).toBe('and 1500 more')
  })
})

describe('createSecretRegister', () => {
  it('keeps what earlier plans marked', async () => {
    const register = createSecretRegister(['configured-secret'])
    await register.learn(
      planOf([{ actions: ['create'], after: { p: 'first-secret-1' }, after_sensitive: { p: true } }]),
    )
    await register.learn(
      planOf([{ actions: ['create'], after: { p: 'second-secret-1' }, after_sensitive: { p: true } }]),
    )
    await register.learn(planOf([]))
    expect(register.text('configured-secret first-secret-1 second-secret-1')).toBe(`${MASK} ${MASK} ${MASK}`)
    expect(register.json({ a: ['first-secret-1'] })).toEqual({ a: [MASK] })
  })
})
