import { describe, expect, it } from 'vitest'
import { isNewFile, readChange } from '../../../../console/screens/review/code/changes.ts'

const whole = (text: string) => ({ text, metadata: { new_file: 'true' } })
const diff = (body: string, head = '') => ({
  text: `diff --git main.tf main.tf\n${head}index 1..2 100644\n--- main.tf\n+++ main.tf\n@@ -1,2 +1,2 @@\n${body}`,
  metadata: { new_file: 'false' },
})

describe('the change of a file', () => {
  it('is the whole text of a new file', () => {
    expect(readChange(whole('a\nc\n'))).toMatchObject({ state: 'new', text: 'a\nc\n', added: 2, removed: 0 })
  })

  it('is the lines of a diff', () => {
    const change = readChange(diff(' a\n-b\n+c\n'))
    expect(change).toMatchObject({ state: 'changed', text: null, raw: null, added: 1, removed: 1 })
    expect(change.rows.map(({ kind, text }) => `${kind} ${text}`)).toEqual(['same a', 'removed b', 'added c'])
  })

  it('keeps what stands in place of lines', () => {
    const binary = {
      text: 'diff --git a.zip a.zip\nBinary files a.zip and a.zip differ\n',
      metadata: { new_file: 'false' },
    }
    expect(readChange(binary)).toMatchObject({ state: 'changed', raw: binary.text, rows: [] })
  })

  it('tells a deleted file', () => {
    expect(readChange(diff('-a\n', 'deleted file mode 100644\n'))).toMatchObject({ state: 'deleted', removed: 1 })
  })

  it('takes a file for new by its text where the metadata is missing', () => {
    expect(isNewFile({ text: 'locals {\n}\n', metadata: {} })).toBe(true)
    expect(isNewFile({ ...diff(' a\n'), metadata: {} })).toBe(false)
    expect(isNewFile({ text: 'diff --git a a\n', metadata: { new_file: 'true' } })).toBe(true)
  })
})
