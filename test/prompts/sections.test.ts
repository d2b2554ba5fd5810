import { describe, expect, it } from 'vitest'
import { templateForPlans, withoutCodeSections, withoutMarks } from '../../src/prompts/sections.ts'
import { readSeedPrompts } from '../../src/runtime/prompts.ts'

describe('withoutMarks', () => {
  it('keeps everything but the marks', () => {
    expect(withoutMarks('# T\n## Files (code only)\n- (code only) stays\n### A (CODE ONLY) \nx')).toBe(
      '# T\n## Files\n- (code only) stays\n### A\nx',
    )
  })
})

describe('withoutCodeSections', () => {
  it('leaves out marked sections with everything below them, and nothing else', () => {
    const body = [
      '# Title',
      'Before.',
      '## Files (code only)',
      '- in `main.tf`',
      '### Deeper',
      '- also gone',
      '## Secrets',
      '- stays',
      '## Names (CODE ONLY)',
      '- gone',
    ]
    expect(withoutCodeSections(body.join('\n'))).toBe('# Title\nBefore.\n## Secrets\n- stays')
  })

  it('reads no heading in a block of code', () => {
    const body = '# T\n```hcl\n# Files (code only)\na = 1\n```\n- stays'
    expect(withoutCodeSections(body)).toBe(body)
  })

  it('is empty when only the title is left', () => {
    expect(withoutCodeSections('# Title\n\n## Files (code only)\n- gone\n')).toBe('')
  })

  it('keeps a text without headings as it is', () => {
    expect(withoutCodeSections('One rule of ours (code only)\nAnother.')).toBe('One rule of ours (code only)\nAnother.')
  })
})

it('takes the sections about code out of a template, whatever their case', () => {
  const body = '# Bucket\n\n## Required\n- `bucket`\n\n## Common Mistakes\n- one\n\n## How it is checked\n- by name'
  expect(templateForPlans(body)).toBe('# Bucket\n\n## Required\n- `bucket`\n\n## How it is checked\n- by name')
})

describe('the shipped prompts', () => {
  const BUDGET = 8_000

  it('tell the auditor nothing of files, formatting and variables, and keep what a plan shows', async () => {
    const prompts = await readSeedPrompts()
    const engine = withoutCodeSections(prompts.get('general-guidelines-engine')?.body ?? '')
    expect(engine).toContain('## Secrets')
    expect(engine).not.toMatch(/main\.tf|indentation|Block names|prevent_destroy = true/)
    const audit = ['general-compliance-report', 'aws-guidelines-forbidden_actions', 'general-guidelines-engine']
    const length = audit
      .map((name) => withoutCodeSections(prompts.get(name)?.body ?? '').length)
      .reduce((sum, part) => sum + part, 0)
    expect(length).toBeLessThan(BUDGET)
  })

  it.each(['aws', 'azure', 'gcp', 'oci', 'kubernetes'])('of %s are shorter for the auditor', async (cloud) => {
    const body = (await readSeedPrompts()).get(`${cloud}-guidelines-resource_creation`)?.body ?? ''
    const shown = withoutCodeSections(body)
    expect(shown.length).toBeLessThan(body.length * 0.6)
    expect(shown).not.toMatch(/Frequent mistakes|In the code/)
    expect(shown).toContain('## ')
  })
})
