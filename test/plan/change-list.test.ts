import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { countsInWords, listChanges, planFacts } from '../../src/plan/change-list.ts'
import { parsePlan } from '../../src/plan/plan.ts'
import { maskerOf } from '../../src/plan/sensitive.ts'
import { planOf } from './fixtures.ts'

/** `resource_changes` and `variables` of one real plan of terraform 1.11 with every kind of change. */
const everyChange = readFileSync(new URL('fixtures/every-change.json', import.meta.url), 'utf8')
const openly = { text: (text: string) => text }

describe('a real plan', () => {
  const plan = parsePlan(everyChange)

  it('is listed with moves, imports, forgotten objects and what forces replacements', () => {
    expect(listChanges(plan, maskerOf(plan)).entries).toEqual([
      { address: 'terraform_data.added', action: 'create' },
      { address: 'terraform_data.cause', action: 'update' },
      { address: 'terraform_data.follows', action: 'replace', replace_reason: 'replace_by_triggers' },
      { address: 'terraform_data.forgotten', action: 'forget' },
      { address: 'terraform_data.found', action: 'import', import_id: 'acme-found' },
      { address: 'terraform_data.found_edit', action: 'update', import_id: null },
      {
        address: 'terraform_data.gone',
        action: 'delete',
        delete_reason: 'delete_because_no_resource_config',
      },
      { address: 'terraform_data.new_edit', action: 'update', previous_address: 'terraform_data.old_edit' },
      {
        address: 'terraform_data.new_name["(sensitive value)"]',
        action: 'move',
        previous_address: 'terraform_data.old_name',
      },
      {
        address: 'terraform_data.new_replace',
        action: 'replace',
        previous_address: 'terraform_data.old_replace',
        replace_paths: ['triggers_replace'],
        replace_reason: 'replace_because_cannot_update',
      },
      { address: 'terraform_data.single[0]', action: 'move', previous_address: 'terraform_data.single' },
      { address: 'terraform_data.tainted', action: 'replace', replace_reason: 'replace_because_tainted' },
    ])
  })

  it('counts an object that is moved or imported and changed in both ways, as the engine does', () => {
    expect(listChanges(plan, openly)).toMatchObject({
      total: 12,
      counts: { create: 1, update: 3, delete: 1, replace: 3, move: 4, import: 2, forget: 1 },
    })
  })

  it('is told to a model, with what destroys data or access and what no target names', () => {
    expect(countsInWords(listChanges(plan, openly).counts)).toBe(
      '1 to create, 3 to update, 1 to delete, 3 to recreate, 4 to move, 2 to import, 1 to forget',
    )
    const changes = [
      { address: 'aws_s3_bucket.a', type: 'aws_s3_bucket', actions: ['delete'] },
      {
        address: 'aws_iam_role.b',
        type: 'aws_iam_role',
        previous_address: 'aws_iam_role.a',
        actions: ['delete', 'create'],
      },
      { address: 'aws_vpc.c', type: 'aws_vpc', actions: ['update'] },
    ]
    expect(planFacts(planOf(changes), ['aws_iam_role.b', 'aws_vpc']).split('\n')).toEqual([
      '0 to create, 1 to update, 1 to delete, 1 to recreate, 1 to move',
      'delete aws_s3_bucket.a (holds data, not among the targets)',
      'recreate aws_iam_role.b, which was aws_iam_role.a (grants access)',
      'update aws_vpc.c (not among the targets)',
    ])
    const many = planOf(Array.from({ length: 502 }, () => ({ actions: ['create'] })))
    expect(planFacts(many, []).split('\n').at(-1)).toBe('and 2 more')
  })

  it('shows no sensitive value, neither in a key nor as an identifier', () => {
    expect(JSON.stringify(listChanges(plan, maskerOf(plan)))).not.toContain('S3cret')
    expect(JSON.stringify(listChanges(plan, openly))).toContain('S3cret')
  })
})

it('leaves out what stays as it is, data sources included, and tells a leftover object from the live one', () => {
  const plan = planOf([
    { address: 'data.aws_ami.x', mode: 'data', actions: ['read'] },
    { address: 'a.b', previous_address: 'a.b', actions: ['no-op'] },
    { address: 'a.c', deposed: 'ab12', actions: ['delete'] },
  ])
  expect(listChanges(plan, openly).entries).toEqual([{ address: 'a.c (deposed object ab12)', action: 'delete' }])
})

it('says that the old object of a replacement stays where it is only forgotten', () => {
  const [entry] = listChanges(planOf([{ address: 'a.b', actions: ['create', 'forget'] }]), openly).entries
  expect(entry).toEqual({ address: 'a.b', action: 'replace', keeps_old: true })
})

it('keeps the first 500 changes and counts all', () => {
  const plan = planOf(Array.from({ length: 620 }, (_, index) => ({ address: `a.b[${index}]`, actions: ['create'] })))
  const list = listChanges(plan, openly)
  expect(list.entries).toHaveLength(500)
  expect(list).toMatchObject({ total: 620, counts: { create: 620 } })
})

it.each([
  [[['tags', 'a b', 0, 'x']], ['tags["a b"][0].x']],
  [
    [['x'], 'rubbish', [null]],
    ['x', '[null]'],
  ],
  ['rubbish', undefined],
])('reads the paths %j that force a replacement', (replace_paths, expected) => {
  const plan = planOf([{ address: 'a.b', actions: ['delete', 'create'], replace_paths }])
  expect(listChanges(plan, openly).entries[0]?.replace_paths).toEqual(expected)
})

it.each([
  { unknown: true },
  { identity: { region: 'eu', bucket: 'b' } },
])('shows an import by %j without an identifier', (importing) => {
  const plan = planOf([{ address: 'a.b', actions: ['no-op'], importing }])
  expect(listChanges(plan, openly).entries).toEqual([{ address: 'a.b', action: 'import', import_id: null }])
})
