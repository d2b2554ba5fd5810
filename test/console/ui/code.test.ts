import { describe, expect, it } from 'vitest'
import { colourLine } from '../../../console/ui/code/colours/colours.ts'
import { blockAround, foldLines } from '../../../console/ui/code/lines/fold.ts'
import { countChanges, type Row, readDiff, readWhole } from '../../../console/ui/code/lines/rows.ts'
import { compareWords, markTokens, markWords, pairLines, splitRows } from '../../../console/ui/code/lines/words.ts'
import { languageOf, lineModes } from '../../../console/ui/code/use-colours.ts'

const DIFF = `diff --git main.tf main.tf
index ddda7af..71e18aa 100644
--- main.tf
+++ main.tf
@@ -1,5 +1,5 @@
 locals {
-  a = 1
--- a heading of SQL
+  a = 2
+++ b
   c = 3

 }
\\ No newline at end of file
`

const drawn = (rows: readonly Row[]) =>
  rows.map(({ kind, before, after, text }) => `${before ?? '-'} ${after ?? '-'} ${kind} ${text}`)

describe('readDiff', () => {
  it('goes by the first character of a line, so that lines which look like headers stay lines', () => {
    const rows = readDiff(DIFF)
    expect(drawn(rows)).toEqual([
      '1 1 same locals {',
      '2 - removed   a = 1',
      '3 - removed -- a heading of SQL',
      '- 2 added   a = 2',
      '- 3 added ++ b',
      '4 4 same   c = 3',
      '5 5 same ',
      '6 6 same }',
    ])
    expect(rows.at(-1)?.unended).toBe(true)
    expect(countChanges(rows)).toEqual({ added: 2, removed: 2 })
  })

  it('bears with counts that do not fit and with a line that lost its sign, as masking leaves them', () => {
    expect(drawn(readDiff('@@ -1,9 +1,9 @@\n a\n(sensitive value)\n-b\n'))).toEqual([
      '1 1 same a',
      '2 2 same (sensitive value)',
      '3 - removed b',
    ])
  })

  it('numbers a deleted file and each hunk from where it begins', () => {
    expect(drawn(readDiff('@@ -1,2 +0,0 @@\n-a\n-b\n'))).toEqual(['1 - removed a', '2 - removed b'])
    expect(drawn(readDiff('@@ -3 +4 @@\n-a\n@@ -9 +10 @@ f\n b\n'))).toEqual(['3 - removed a', '9 10 same b'])
  })

  it('has no rows for what is no diff', () => {
    expect(readDiff('Binary files a and b differ\n')).toEqual([])
    expect(readDiff('')).toEqual([])
  })

  it('drops carriage returns where every line has one, and keeps them where only some do', () => {
    expect(drawn(readWhole('a\r\nb\r\n'))).toEqual(['1 1 same a', '2 2 same b'])
    expect(drawn(readWhole('a\r\nb\n'))[0]).toBe('1 1 same a\r')
  })
})

describe('words', () => {
  const marked = (text: string, ranges: readonly (readonly [number, number])[]) =>
    ranges.map(([from, to]) => text.slice(from, to))

  it('marks the words that differ, joined where only a blank is between them', () => {
    const before = '  region = local.second_region'
    const after = '  region = local.other_region'
    const found = compareWords(before, after)
    expect(marked(before, found?.before ?? [])).toEqual(['second_region'])
    expect(marked(after, found?.after ?? [])).toEqual(['other_region'])
    const joined = compareWords('name = "a b tail of it"', 'name = "c d tail of it"')
    expect(marked('name = "a b tail of it"', joined?.before ?? [])).toEqual(['a b'])
  })

  it('marks nothing in lines that have little in common, or are very long', () => {
    expect(compareWords('resource "aws_sqs_queue" "orders" {', '# removed')).toBeNull()
    expect(compareWords('x'.repeat(1_001), 'x')).toBeNull()
  })

  it('pairs lines by their order, or by the argument that they set', () => {
    const even = readDiff('@@ -1 +1 @@\n-a = 1\n-b = 1\n+b = 2\n+c = 2\n')
    expect(pairLines(even).get(even[0] as Row)).toBe(even[2])
    const uneven = readDiff('@@ -1 +1 @@\n-a = 1\n-b = 1\n+b = 2\n')
    expect(pairLines(uneven).get(uneven[1] as Row)).toBe(uneven[2])
    expect(pairLines(uneven).has(uneven[0] as Row)).toBe(false)
    expect([...markWords(uneven, pairLines(uneven)).values()]).toEqual([[[4, 5]], [[4, 5]]])
  })

  it('puts the lines of a pair beside each other and leaves a place for the others', () => {
    const rows = readDiff('@@ -1 +1 @@\n x\n-a = 1\n-b = 1\n+n = 0\n+b = 2\n+m = 0\n y\n')
    const lines = splitRows(rows, pairLines(readDiff('')))
    expect(lines).toHaveLength(7)
    expect(splitRows(rows, pairLines(rows)).map(({ left, right }) => [left?.text, right?.text])).toEqual([
      ['x', 'x'],
      ['a = 1', undefined],
      [undefined, 'n = 0'],
      ['b = 1', 'b = 2'],
      [undefined, 'm = 0'],
      ['y', 'y'],
    ])
  })

  it('cuts tokens where a mark begins and ends', () => {
    const tokens = [
      { text: 'a = ', kind: '' },
      { text: '"one two"', kind: 'string' },
    ]
    expect(markTokens(tokens, [[2, 8]])).toEqual([
      { text: 'a ', kind: '', marked: false },
      { text: '= ', kind: '', marked: true },
      { text: '"one', kind: 'string', marked: true },
      { text: ' two"', kind: 'string', marked: false },
    ])
  })
})

describe('foldLines', () => {
  const lines = (count: number, ...at: number[]) => Array.from({ length: count }, (_, index) => at.includes(index))
  const drawnPieces = (given: ReturnType<typeof foldLines>) =>
    given.pieces.map(({ kind, from, to }) => `${kind} ${from}-${to}`)

  it('keeps three lines beside a change and folds the rest', () => {
    expect(drawnPieces(foldLines(lines(30, 10)))).toEqual(['folded 0-7', 'shown 7-14', 'folded 14-30'])
  })

  it('folds nothing where it would hide three lines or fewer', () => {
    expect(drawnPieces(foldLines(lines(20, 6, 16)))).toEqual(['shown 0-20'])
  })

  it('opens a stretch from its beginning, and goes on from there', () => {
    const opened = new Map([[14, 4]])
    expect(drawnPieces(foldLines(lines(30, 10), { opened }))).toEqual(['folded 0-7', 'shown 7-18', 'folded 18-30'])
    expect(foldLines(lines(30, 10), { opened }).pieces.at(-1)?.stretch).toBe(14)
    expect(drawnPieces(foldLines(lines(30, 10), { opened: new Map([[14, 99]]) }))).toEqual(['folded 0-7', 'shown 7-30'])
  })

  it('shows a line that the address names, and a file without changes whole', () => {
    expect(drawnPieces(foldLines(lines(30, 2), { reveal: 20 }))).toEqual([
      'shown 0-6',
      'folded 6-17',
      'shown 17-24',
      'folded 24-30',
    ])
    expect(drawnPieces(foldLines(lines(9)))).toEqual(['shown 0-9'])
    expect(drawnPieces(foldLines([]))).toEqual([])
  })

  it('leaves out what is behind the limit and says how much', () => {
    const cut = foldLines(lines(5_000), { limit: 1_000 })
    expect(drawnPieces(cut)).toEqual(['shown 0-1000'])
    expect(cut.left).toBe(4_000)
  })

  it('names the block of the top level around a line', () => {
    const rows = readWhole('resource "aws_sqs_queue" "orders" {\n  name = "a"\n}\n\nlocals {\n  b = {\n    c = 1')
    expect(blockAround(rows, 2)).toBe('resource "aws_sqs_queue" "orders"')
    expect(blockAround(rows, 3)).toBeNull()
    expect(blockAround(rows, 7)).toBe('locals')
  })
})

describe('lineModes', () => {
  it('tells texts and comments of several lines from code', () => {
    const lines = ['a = <<-EOT', '  # no comment', '  EOT', 'b = 1', '/* one', '"', '*/', '/* all */', 'c = 2']
    expect(lineModes(lines)).toEqual([
      'code',
      'string',
      'string',
      'code',
      'comment',
      'comment',
      'comment',
      'comment',
      'code',
    ])
  })
})

const coloured = (text: string, language = 'hcl') =>
  colourLine(text, language, 'code')
    .filter(({ kind }) => kind !== '')
    .map(({ text: part, kind }) => `${kind}: ${part.trim()}`)

describe('colourLine', () => {
  it('colours a line of HCL', () => {
    expect(coloured('resource "aws_sqs_queue" "orders" {')).toEqual([
      'keyword: resource',
      'string: "aws_sqs_queue"',
      'string: "orders"',
    ])
    expect(coloured('  delay = 30 # seconds')).toEqual(['name: delay', 'value: 30', 'comment: # seconds'])
    expect(coloured('on: true', 'yaml')).toEqual(['name: on', 'value: true'])
  })

  it('keeps every character of a line, whatever stands in it', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how HCL writes it
    for (const line of ['</span><script>alert(1)</script>', '"${a["b"]}" <<EOT', '\u202e"', '', '${${${'])
      for (const language of ['hcl', 'json', 'yaml', 'none'])
        expect(
          colourLine(line, language, 'code')
            .map(({ text }) => text)
            .join(''),
        ).toBe(line)
  })

  it('needs no long time for lines that were made to take one', () => {
    const parts = ['<<A', '"${', '${"', '$$', '\\"', 'resource ', '"a" ', '/*', 'a', '. ', '-', '{"', "'", '&a ', '!!']
    const start = performance.now()
    for (const part of parts)
      for (const language of ['hcl', 'json', 'yaml']) colourLine(part.repeat(1_000).slice(0, 1_000), language, 'code')
    expect(performance.now() - start).toBeLessThan(3_000)
  })

  it('knows the language of a file by its name', () => {
    expect(['a/main.tf', 'x.tf.json', 'c.YML', 'run.sh', 'tf'].map(languageOf)).toEqual([
      'hcl',
      'json',
      'yaml',
      null,
      null,
    ])
  })
})
