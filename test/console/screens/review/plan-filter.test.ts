import { describe, expect, it } from 'vitest'
import type { PlannedResource, Round } from '../../../../console/client/api/client.ts'
import {
  choosePlan,
  filterResources,
  findingNames,
  isPlanDocument,
  readFilter,
  sortResources,
  writeFilter,
} from '../../../../console/screens/review/plan/plan-filter.ts'
import { readImpact } from '../../../../console/screens/review/report/generate-report.ts'

const resource = (address: string, more: Partial<PlannedResource> = {}) =>
  ({
    address,
    module_address: null,
    type: 'queue',
    action: 'update',
    import: null,
    moved_from: null,
    is_targeted: true,
    is_critical: false,
    attributes: [],
    findings: [],
    ...more,
  }) as unknown as PlannedResource
const finding = (severity: 'error' | 'info') => [{ rule_id: 'r', severity, message: '', suggested_fix: null }]
const names = (list: PlannedResource[]) => list.map(({ address }) => address)
const filtered = (list: PlannedResource[], search: Record<string, unknown>) =>
  names(filterResources(list, readFilter(search)))

describe('the list of a plan', () => {
  it('begins with what is lost, then what is critical, then what rules found', () => {
    const list = [
      resource('plain'),
      resource('info', { findings: finding('info') }),
      resource('error', { findings: finding('error') }),
      resource('critical', { is_critical: true }),
      resource('replaced', { action: 'replace' }),
      resource('lost', { action: 'delete', is_critical: true }),
    ]
    expect(names(sortResources(list))).toEqual(['lost', 'replaced', 'critical', 'error', 'info', 'plain'])
  })
  it('leaves out what stays, unless it is asked for or nothing else is there', () => {
    const stays = resource('stays', { action: 'none' })
    expect(filtered([resource('a'), stays], {})).toEqual(['a'])
    expect(filtered([resource('a'), stays], { action: 'none' })).toEqual(['stays'])
    expect(filtered([stays], {})).toEqual(['stays'])
  })
  it('counts what is imported or moved and changed for both', () => {
    const list = [resource('a', { import: { id: null } }), resource('b', { moved_from: 'c' }), resource('d')]
    expect(filtered(list, { action: 'import' })).toEqual(['a'])
    expect(filtered(list, { action: 'move,import' })).toEqual(['a', 'b'])
    expect(filtered(list, { action: 'update' })).toEqual(['a', 'b', 'd'])
  })
  it('finds attributes and values, but no masks', () => {
    const attribute = { path: ['tags', 'owner'], change: 'changed' as const, before: 'Anna', after: 'Ben' }
    const list = [
      resource('a', { attributes: [attribute] }),
      resource('b', { attributes: [{ ...attribute, path: ['key'], before: '(sensitive value)', sensitive: true }] }),
    ]
    expect(filtered(list, { search: 'TAGS.OWNER ben' })).toEqual(['a'])
    expect(filtered(list, { search: 'sensitive' })).toEqual([])
  })
  it('takes a module with those inside of it, and not one whose name begins alike', () => {
    const list = ['m.a', 'm.a.m.b', 'm.ab', null].map((module, index) =>
      resource(`${index}`, { module_address: module }),
    )
    expect(filtered(list, { module: 'm.a' })).toEqual(['0', '1'])
    expect(filtered(list, { module: '' })).toEqual(['3'])
  })
  it('gives each finding of a rule a name of its own', () => {
    expect(findingNames([{ rule_id: 'a' }, { rule_id: 'b' }, { rule_id: 'a' }])).toEqual(['a', 'b', 'a~2'])
  })
  it('reads from the address what it wrote there, and nothing else', () => {
    const search = { action: 'delete', search: '12', critical: true, module: 'm' }
    expect(writeFilter(readFilter({ ...search, search: 12, junk: {} }))).toMatchObject(search)
    expect(readFilter({ action: 'explode,delete', search: { a: 1 } })).toMatchObject({ actions: ['delete'] })
  })
})

describe('the plan of a round', () => {
  const plans = [
    { id: 1, document_url: 'a' },
    { id: 2, document_url: 'b' },
    { id: 3, document_url: null },
  ]
  const round = { plans, compliance_checks: [{ passed: false }] } as unknown as Round
  it('is the last one that can be read, or the one of the address', () => {
    expect(choosePlan(round, undefined).plan?.id).toBe(2)
    expect(choosePlan(round, '1').plan?.id).toBe(1)
    expect(choosePlan(round, 3).plan?.id).toBe(2)
  })
  it('has to have the known form', () => {
    expect(isPlanDocument({ schema_version: 1, resources: [], summary: {} })).toBe(true)
    expect(isPlanDocument({ schema_version: 2, resources: [], summary: {} })).toBe(false)
    expect(isPlanDocument(undefined)).toBe(false)
  })
  it('has an impact where its report names one', () => {
    expect(readImpact({ potential_impact: { banner: { level: 'high', title: 'x' } } })).toMatchObject({ level: 'high' })
    expect(readImpact('text')).toBeNull()
  })
})
