import { describe, expect, it } from 'vitest'
import { ToolError } from '../../src/agent/agent-request.ts'
import { intentCheck } from '../../src/chains/intent-check.ts'

const { signal } = new AbortController()
const good = { kind: 'no_deletions', text: 'Nothing is lost.', words: 'only add' }

describe('report_intent_statements', () => {
  it('reads flat statements, filled in or not', async () => {
    const filled = { ...good, id: 'x', type: null, name: '', where: [], value: null }
    const { statements } = await intentCheck.resultTool().run({ statements: [filled, good] }, signal)
    expect(statements).toEqual([
      { id: 's1', ...good },
      { id: 's2', ...good },
    ])
  })

  it('sends what does not fit back once, then leaves it out', async () => {
    const tool = intentCheck.resultTool()
    const bad = [
      { kind: 'attribute', text: 'x', path: 'a', op: 'regex', value: '.*' },
      { kind: 'attribute', text: 'x', type: 'a_b', path: 'a', op: 'eq' },
      { kind: 'unchanged', text: 'x', name: 'only_a_name' },
      { kind: 'other', text: 'x' },
      'text',
      null,
    ]
    const args = { statements: [...bad, good] }
    const refused = await Promise.resolve()
      .then(() => tool.run(args, signal))
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ToolError)
    expect(String(refused)).toContain('statements.1: value is required for this op')
    expect(String(refused)).toContain('statements.2: type or address is required')
    expect((await tool.run(args, signal)).statements).toEqual([{ id: 's7', ...good }])
  })

  it('refuses what is no list, and looks at twenty at most', async () => {
    expect(() => intentCheck.resultTool().run({ statements: 'none' }, signal)).toThrow('must be a list')
    const { statements } = await intentCheck
      .resultTool()
      .run({ statements: Array.from({ length: 50 }, () => good) }, signal)
    expect(statements).toHaveLength(20)
  })

  it('cuts long texts and refuses long patterns', async () => {
    const long = { ...good, text: 'x'.repeat(5_000) }
    const { statements } = await intentCheck.resultTool().run({ statements: [long] }, signal)
    expect(statements[0]?.text).toHaveLength(400)
    const pattern = { kind: 'output_exists', text: 'x', name: '*'.repeat(500) }
    expect(() => intentCheck.resultTool().run({ statements: [pattern] }, signal)).toThrow('at most 200 characters')
  })
})
