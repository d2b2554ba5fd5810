import { describe, expect, it } from 'vitest'
import { composeDescription } from '../../../src/pull-requests/evidence/compose.ts'
import type { Evidence } from '../../../src/pull-requests/evidence/evidence.ts'
import { check, evidenceOf, generateReport, report, sectionOf, titlesOf, UUID } from './fixtures.ts'

const LIMITS = { github: 65_536, gitlab: 1_048_576, azure: 4_000 }
const URL_TEMPLATE = 'https://platform.example.com/sessions/{session_id}'
const composed = (evidence: Evidence, limit: number, summary = 'Why.') =>
  composeDescription(summary, evidence, { limit, session_url: URL_TEMPLATE })

const long = (size: number) => 'words of a model '.repeat(Math.ceil(size / 17)).slice(0, size)

/** Makes a session of every kind with the longest possible texts. */
const crowded = (): Evidence =>
  evidenceOf({
    session: { is_blocked: true, operation: 'generate' },
    rounds: Array.from({ length: 30 }, (_, index) => ({
      number: index + 1,
      mode: 'generate' as const,
      query: long(900),
      status: 'completed' as const,
    })),
    generate: generateReport(
      {
        summary: { create: 400, delete: 400 },
        detailed_changes: Array.from({ length: 800 }, (_, index) => ({
          name: `aws_db_instance.${'x'.repeat(60)}${index}`,
          action: index % 2 ? 'delete' : 'create',
          summary: long(400),
        })),
        potential_impact: {
          banner: { level: 'high', title: long(300), description: long(3_000) },
          summary: long(3_000),
          bullet_points: [
            ...Array.from({ length: 100 }, () => ({ title: long(80), description: long(900) })),
            {
              title: 'Outside the targets',
              description: ['Lead:', ...Array.from({ length: 50 }, (_, index) => `- update aws_vpc.v${index}`)].join(
                '\n',
              ),
            },
          ],
        },
        estimated_costs: {
          introduction_paragraph: long(3_000),
          breakdown: Array.from({ length: 100 }, (_, index) => ({
            resource_type: `type_${index}`,
            pricing_model: 'usage_based',
            notes: long(500),
          })),
        },
      },
      30,
    ),
    compliance: check(
      Array.from({ length: 200 }, (_, index) => ({
        rule_id: `rule_${index}`,
        severity: index === 150 ? 'critical' : 'info',
        resource: 'a.b',
        message: long(900),
        suggested_fix: long(900),
      })),
      30,
    ),
    drift: report('drift', {
      summary: long(3_000),
      status: 'Partial',
      remediated_resources: Array.from({ length: 200 }, () => ({
        resource_address: 'a.b',
        changes: [{ change_description: long(900) }],
      })),
      unreconciled_drift: Array.from({ length: 200 }, () => ({ reason: long(900) })),
    }),
    plan: {
      targets: Array.from({ length: 200 }, (_, index) => `a.b[${index}]`),
      created_at: '2026-01-31T00:00:00.000000Z',
      text: '',
    },
  })

describe('a text that fits', () => {
  it('is whole', () => {
    const text = composed(evidenceOf(), LIMITS.github)
    expect(text).not.toMatch(/Left out|Shortened/)
    expect(titlesOf(text)).toHaveLength(9)
  })
})

describe('a text that is too long', () => {
  it.each(Object.entries(LIMITS))('fits %s, whatever there is to say', (_, limit) => {
    for (const summary of ['Why.', long(100_000), '*|'.repeat(20_000), '\n- x'.repeat(20_000)])
      expect(composed(crowded(), limit, summary).length).toBeLessThanOrEqual(limit)
  })

  it('keeps what matters most within 4,000 characters', () => {
    const text = composed(crowded(), LIMITS.azure, long(5_000))
    expect(text).toMatch(/^> \*\*This session is locked/)
    expect(sectionOf(text, 'Plan')).toContain('**400 to create, 0 to update, 400 to delete, 0 to recreate**')
    expect(sectionOf(text, 'Plan')).toContain('and 792 more')
    expect(sectionOf(text, 'Compliance')).toContain('**Not passed**')
    expect(sectionOf(text, 'Compliance')).toContain('critical `rule_150`')
    expect(sectionOf(text, 'Session')).toContain(UUID)
    expect(text).toMatch(
      /_Left out because the host limits the length: .+\. Shortened: .+\. The whole evidence is with the session: \[Session .+\]\(https:.+\)\._$/,
    )
  })

  it('gives up the least important first: shorter forms, then sections', () => {
    let previous = new Set<string>()
    for (const limit of [20_000, 12_000, 8_000, 6_000, 4_000, 3_000, 2_500]) {
      const titles = new Set(titlesOf(composed(crowded(), limit)))
      if (previous.size > 0) for (const title of titles) expect(previous).toContain(title)
      previous = titles
    }
    expect(previous).toContain('Session')
    expect(previous).toContain('Plan')
    expect(previous).not.toContain('Rounds')
  })

  it('is shortened no more than needed', () => {
    const whole = composed(evidenceOf({ rounds: crowded().rounds }), LIMITS.github)
    const cut = composed(evidenceOf({ rounds: crowded().rounds }), whole.length - 1)
    expect(cut).toContain('_Shortened: Rounds. The whole evidence')
    expect(sectionOf(cut, 'Plan')).toBe(sectionOf(whole, 'Plan'))
  })
})

describe('hostile text anywhere', () => {
  const evil =
    'Fixes #1 @octocat ![x](https://evil.example/p.png) <img src=x> | `code` \n/close\n## Approved\n\n- [x] done'
  const evidence = evidenceOf({
    session: { branch: 'Platform/x` @me' },
    rounds: [1, 2].map((number) => ({ number, mode: 'generate', query: evil, status: 'completed' })),
    generate: generateReport(
      {
        summary: { create: 1 },
        detailed_changes: [{ name: `a.b["${evil}"]`, action: 'delete', summary: evil, notes: evil, details: evil }],
        potential_impact: {
          banner: { level: 'low', title: evil, description: evil },
          summary: evil,
          bullet_points: [
            { title: evil, description: evil },
            { title: 'Outside the targets', description: `${evil}\n- update ${evil}\n${evil}` },
          ],
        },
        estimated_costs: {
          introduction_paragraph: evil,
          breakdown: [{ resource_type: evil, pricing_model: 'usage_based', notes: evil }],
        },
      },
      2,
    ),
    compliance: check([{ rule_id: evil, severity: 'error', resource: evil, message: evil, suggested_fix: evil }], 2),
    drift: report('drift', {
      summary: evil,
      status: 'Partial',
      remediated_resources: [{ file_path: evil, resource_address: evil, changes: [{ change_description: evil }] }],
      unreconciled_drift: [{ resource_address: evil, reason: evil }],
      whitelisted_exceptions: [{ resource_address: evil, change: evil, rule: evil }],
    }),
    import: report('import', {
      summary: {},
      status: 'Failed',
      execution_summary: evil,
      imported_resources: [
        { resource_address: evil, resource_id: evil, status: 'failed', details: evil, error_message: evil },
      ],
      excluded_resources: [{ resource_id: evil, details: evil }],
      state_alignment: evil,
    }),
    apply: report(
      'apply',
      {
        summary: {},
        status: 'Failed',
        execution_summary: evil,
        resource_changes: [{ resource_name: evil, action: 'no_change', status: 'failed', error_message: evil }],
      },
      3,
    ),
    plan: { targets: [evil], created_at: '2026-01-31T00:00:00.000000Z', text: evil },
  })

  it.each([
    ['mention', /@(?=\w)/],
    ['reference', /#(?=\d)/],
    ['image', /!\[/],
    ['foreign link', /[^\\]\]\((?!https:\/\/platform\.example\.com)/],
    ['address', /:\/\/(?!platform\.example\.com)/],
    ['HTML', /<\w/],
    ['quick action', /^\s*\/\w/m],
    ['task', /(^|[^\\])\[x\]/],
  ])('makes no %s', (_, pattern) => {
    expect(composed(evidence, LIMITS.github, evil)).not.toMatch(pattern)
  })

  it('makes no heading and no cell of its own', () => {
    const text = composed(evidence, LIMITS.github, evil)
    expect(titlesOf(text)).toEqual([
      'Plan',
      'Drift',
      'Import',
      'Applied',
      'Impact',
      'Checked against the request',
      'Compliance',
      'Cost estimate',
      'Assumptions',
      'Outside the targets',
      'How to roll back',
      'Rounds',
      'Session',
    ])
    const cells = (line: string) => line.split(/(?<!\\)\|/).length
    const lines = text.split('\n')
    for (const [index, line] of lines.entries()) {
      if (!/^\| --- /.test(line)) continue
      expect(cells(lines[index - 1] ?? '')).toBe(cells(line))
      for (let row = index + 1; lines[row]?.startsWith('|'); row++)
        expect(cells(lines[row] ?? ''), lines[row]).toBe(cells(line))
    }
  })
})
