import { describe, expect, it } from 'vitest'
import { readReasons } from '../../../../console/screens/locked/reasons.ts'

describe('readReasons', () => {
  it('reads the banner, and the findings worst first', () => {
    const banner = { level: 'high', title: 'Data is lost', description: 'One table.' }
    const violations = ['info', 'unheard', 'critical', 'warning'].map((severity) => ({
      rule_id: severity,
      severity,
      resource: null,
      message: 'm',
    }))
    const reasons = readReasons({ potential_impact: { banner } }, { violations })
    expect(reasons.banner).toEqual(banner)
    expect(reasons.violations.map(({ severity }) => severity)).toEqual(['critical', 'warning', 'info', 'unheard'])
    expect(reasons.violations[0]?.resource).toBe('')
  })

  it.each([
    [undefined, undefined],
    [null, null],
    ['text', []],
    [{ potential_impact: 7 }, { violations: {} }],
  ])('bears documents of another form: %j', (report, compliance) =>
    expect(readReasons(report, compliance)).toEqual({ banner: null, violations: [] }))
})
