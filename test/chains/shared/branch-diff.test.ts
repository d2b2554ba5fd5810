import { describe, expect, it } from 'vitest'
import { describeDiff } from '../../../src/chains/shared/branch-diff.ts'
import type { FileDiff } from '../../../src/plan/code/compare.ts'

const changed = (path: string, ...lines: string[]): FileDiff => ({
  path,
  change: 'changed',
  text: ['@@ -1 +1 @@', ...lines].join('\n'),
})
const added = (path: string, text: string): FileDiff => ({ path, change: 'new', text })

describe('a diff for a model', () => {
  it('names each file with its kind, and shows new files as text', () => {
    const diff: FileDiff[] = [
      changed('a.tf', '-old', '+new'),
      added('b.tf', 'x = 1\n'),
      { path: 'd.tf', change: 'renamed', text: '' },
      { path: 'e.tf', change: 'deleted', text: '@@ -1 +0,0 @@\n-y = 1' },
    ]
    expect(describeDiff(diff, 1_000)).toBe(
      [
        '--- a.tf (changed) ---\n@@ -1 +1 @@\n-old\n+new',
        '--- b.tf (new file, whole) ---\nx = 1',
        '--- d.tf (renamed) ---',
        '--- e.tf (deleted) ---\n@@ -1 +0,0 @@\n-y = 1',
      ].join('\n\n'),
    )
  })

  it('stays within its budget, cuts large files and names every one', () => {
    const diff = [changed('small.tf', '+s'), changed('a.tf', '+a'.repeat(9_000)), changed('b.tf', '+b'.repeat(9_000))]
    const text = describeDiff(diff, 4_000)
    expect(text.length).toBeLessThan(4_000)
    expect(text).toContain('--- small.tf (changed) ---\n@@ -1 +1 @@\n+s')
    for (const name of ['a.tf', 'b.tf']) expect(text).toContain(`--- ${name} (changed) ---`)
    expect(text.match(/characters left out/g)).toHaveLength(2)
    const many = Array.from({ length: 500 }, (_, index) => changed(`file-${index}.tf`, '+x'))
    expect(describeDiff(many, 2_000).length).toBeLessThan(2_100)
  })

  it('names a new file that is shown whole beside it, and repeats no other', () => {
    const diff = [changed('a.tf', '+new'), added('b.tf', 'x = 1\n'), added('f.tf', 'z = 1')]
    const show = (files: string) => describeDiff(diff, 1_000, files)
    const change = '--- a.tf (changed) ---\n@@ -1 +1 @@\n+new'
    const [b, f] = ['--- b.tf (new file, whole) ---\nx = 1', '--- f.tf (new file, whole) ---\nz = 1']
    expect(show('--- a.tf ---\nnew\n\n--- b.tf ---\nx = 1\n\n--- f.tf ---\nz = 1')).toBe(
      [change, '--- b.tf (new file) ---', '--- f.tf (new file) ---'].join('\n\n'),
    )
    expect(show('--- b.tf ---\nx = 12\n\n--- c.tf ---\nz = 1')).toBe([change, b, f].join('\n\n'))
  })

  it('is empty when nothing was changed', () => {
    expect(describeDiff([], 1_000)).toBe('')
  })
})
