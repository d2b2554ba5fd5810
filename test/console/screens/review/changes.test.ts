import { describe, expect, it } from 'vitest'
import { attemptOf, groupByFile, isNewFile, joinChanges } from '../../../../console/screens/review/code/changes.ts'

const whole = (text: string) => ({ text, metadata: { new_file: 'true' } })
const diff = (body: string, head = '') => ({
  text: `diff --git main.tf main.tf\n${head}index 1..2 100644\n--- main.tf\n+++ main.tf\n@@ -1,2 +1,2 @@\n${body}`,
  metadata: { new_file: 'false' },
})

describe('joinChanges', () => {
  it('answers a new file as its last attempt left it', () => {
    const joined = joinChanges([whole('a\nb\n'), diff(' a\n-b\n+c\n')])
    expect(joined).toMatchObject({ state: 'new', text: 'a\nc\n', added: 2, removed: 0 })
  })

  it('compares the text before the first attempt with that after the last one', () => {
    const joined = joinChanges([diff(' a\n-b\n+c\n'), diff(' a\n-c\n+d\n')])
    expect(joined).toMatchObject({ state: 'changed', text: null, added: 1, removed: 1 })
    expect(joined.rows.map(({ kind, text }) => `${kind} ${text}`)).toEqual(['same a', 'removed b', 'added d'])
  })

  it('tells a file that is in the end as it was', () => {
    expect(joinChanges([diff(' a\n-b\n+c\n'), diff(' a\n-c\n+b\n')])).toMatchObject({ state: 'same', added: 0 })
  })

  it('keeps what stands in place of lines', () => {
    const binary = {
      text: 'diff --git a.zip a.zip\nBinary files a.zip and a.zip differ\n',
      metadata: { new_file: 'false' },
    }
    expect(joinChanges([binary])).toMatchObject({ state: 'changed', raw: binary.text, rows: [] })
  })

  it('tells a deleted file', () => {
    expect(joinChanges([diff('-a\n', 'deleted file mode 100644\n')])).toMatchObject({ state: 'deleted', removed: 1 })
  })

  it('begins again where a round was started again from the code of before', () => {
    const joined = joinChanges([diff(' a\n-b\n+c\n'), diff(' a\n-b\n+x\n')])
    expect(joined.rows.map(({ kind, text }) => `${kind} ${text}`)).toEqual(['same a', 'removed b', 'added x'])
    expect(joinChanges([whole('a\n'), whole('b\n')])).toMatchObject({ state: 'new', text: 'b\n', added: 1 })
  })

  it('takes a file for new by its text where the metadata is missing', () => {
    expect(isNewFile({ text: 'locals {\n}\n', metadata: {} })).toBe(true)
    expect(isNewFile({ ...diff(' a\n'), metadata: {} })).toBe(false)
    expect(isNewFile({ text: 'diff --git a a\n', metadata: { new_file: 'true' } })).toBe(true)
  })
})

describe('changes', () => {
  const change = (file_name: string, created_at: string) => ({ file_name, created_at }) as never

  it('are grouped by file in the order of the paths', () => {
    const files = groupByFile([change('b.tf', '1'), change('a/x.tf', '2'), change('b.tf', '3')])
    expect(files.map(({ name, changes }) => [name, changes.map(({ created_at }) => created_at)])).toEqual([
      ['a/x.tf', ['2']],
      ['b.tf', ['1', '3']],
    ])
  })

  it('belong to the attempt that ran when they were stored', () => {
    const attempts = [
      { number: 1, started_at: '2026-01-01T00:00:00.000001Z', ended_at: '2026-01-01T00:01:00Z' },
      { number: 2, started_at: '2026-01-01T00:01:00.5Z', ended_at: null },
    ] as never
    expect(attemptOf(change('a', '2026-01-01T00:00:30Z'), attempts)?.number).toBe(1)
    expect(attemptOf(change('a', '2026-01-01T00:02:00Z'), attempts)?.number).toBe(2)
    expect(attemptOf(change('a', '2025-01-01T00:00:00Z'), attempts)).toBeNull()
  })
})
