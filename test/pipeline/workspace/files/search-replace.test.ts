import { describe, expect, it } from 'vitest'
import { searchReplace } from '../../../../pipeline/workspace/files/search-replace.ts'

const block = (search: string, replace = 'x') =>
  `<<<<<<< SEARCH\n${search}\n=======\n${replace}${replace ? '\n' : ''}>>>>>>> REPLACE\n`
const FILE = 'one\n  two\nthree\ntwo and a half\n'

describe('search and replace', () => {
  it('changes what matches exactly once', () => {
    expect(searchReplace(FILE, block('  two', '  2'))).toBe('one\n  2\nthree\ntwo and a half\n')
    expect(searchReplace(FILE, block('one\n  two', 'x\ny\nz'))).toBe('x\ny\nz\nthree\ntwo and a half\n')
  })

  it('applies blocks in order, each to what the earlier left', () => {
    expect(searchReplace(FILE, `${block('one', 'first')}\n\n${block('first', '1')}`)).toBe(
      '1\n  two\nthree\ntwo and a half\n',
    )
  })

  it('removes lines with their line break when the replacement is empty', () => {
    expect(searchReplace(FILE, block('three', ''))).toBe('one\n  two\ntwo and a half\n')
  })

  it('takes replacement text literally', () => {
    expect(searchReplace('a\n', block('a', "$& $1 $$ $'"))).toBe("$& $1 $$ $'\n")
  })

  it('keeps the line ends of the file', () => {
    expect(searchReplace('a\r\nb\r\nc\r\n', block('a\nb', 'x\ny'))).toBe('x\r\ny\r\nc\r\n')
    expect(searchReplace('a\nb\n', block('a\nb', 'x\ny').replaceAll('\n', '\r\n'))).toBe('x\ny\n')
  })

  it.each([
    ['nothing', '', 'Block 1 (diff line 1): no `<<<<<<< SEARCH` block'],
    ['text outside of blocks', 'please do\n', 'Block 1 (diff line 1): expected'],
    ['text between blocks', `${block('one', '1')}then\n${block('three', '3')}`, 'Block 2 (diff line 6): expected'],
    ['a search that is not there', block('four', '4'), 'Block 1 (diff line 1): the search text does not occur'],
    ['other indentation', block('   two', '2'), 'does not occur'],
    ['a search that occurs twice', block('two', '2'), 'Block 1 (diff line 1): the search text occurs more than once'],
    [
      'a second block that does not fit',
      block('one', '1') + block('one', '2'),
      'Block 2 (diff line 6): the search text does not occur',
    ],
    ['an empty search', block('', 'x'), 'Block 1 (diff line 1): the search text is empty'],
    [
      'a search without divider',
      '<<<<<<< SEARCH\none\n>>>>>>> REPLACE\n',
      'Block 1 (diff line 3): `=======` is missing',
    ],
    [
      'two dividers',
      '<<<<<<< SEARCH\none\n=======\n1\n=======\n2\n>>>>>>> REPLACE\n',
      'Block 1 (diff line 5): a second',
    ],
    ['a block in a block', '<<<<<<< SEARCH\none\n<<<<<<< SEARCH\n', 'Block 1 (diff line 3): a block begins inside'],
    [
      'a block that does not end',
      '\n<<<<<<< SEARCH\none\n=======\n1\n',
      'Block 1 (diff line 2): the block is not closed',
    ],
  ])('refuses %s and says where', (_, diff, reason) => {
    expect(() => searchReplace(FILE, diff)).toThrow(reason)
  })

  it('shows the markers to a model that sends a unified diff', () => {
    const diff = '--- a/main.tf\n+++ b/main.tf\n@@ -1 +1 @@\n-one\n+1\n'
    expect(() => searchReplace(FILE, diff)).toThrow(
      'Block 1 (diff line 1): expected `<<<<<<< SEARCH`, found a line of a unified diff, a form that this tool does ' +
        'not take. The file was not changed. A block has these three marker lines:\n<<<<<<< SEARCH\n<lines as they ' +
        'are in the file>\n=======\n<lines to put there instead>\n>>>>>>> REPLACE',
    )
  })

  it('refuses a change that changes nothing', () => {
    expect(() => searchReplace(FILE, block('one', '1') + block('three', 'three'))).toThrow(
      'Block 2 (diff line 6): the replacement is the same as the search text, so that nothing would change',
    )
    expect(() => searchReplace(FILE, block('one', 'x') + block('x', 'one'))).toThrow('nothing would change')
  })

  it.each([
    ['lines that stay keep their line ends', 'a\r\nb\nc\r\nd', 'a\nb\nc', 'a\nx\nc', 'a\r\nx\nc\r\nd'],
    ['new lines take that of the line before', 'h\r\n\r\na\nb\n', 'a\nb', 'a\nx\ny\nb', 'h\r\n\r\na\nx\ny\nb\n'],
    ['a file of one kind keeps it', 'a\r\nb\r\nc', 'b', 'x\ny', 'a\r\nx\r\ny\r\nc'],
    ['lines that go take their line end along', 'a\nb\r\nc\n', 'b', '', 'a\nc\n'],
    ['lines may become fewer', 'a\r\nb\r\nc\nd\ne', 'a\nb\nc\nd', 'a\nd', 'a\r\nd\ne'],
  ])('knows both line ends: %s', (_, file, search, replace, expected) => {
    expect(searchReplace(file, block(search, replace))).toBe(expected)
  })

  it('counts matches that overlap', () => {
    expect(() => searchReplace('aaa', block('aa', 'b'))).toThrow('more than once')
  })
})

const BUCKETS = `resource "aws_s3_bucket" "logs" {
  bucket = "company-logs"
  tags = {
    team = "a"
  }
}

resource "aws_s3_bucket" "data" {
  bucket = "company-data"
  tags = {
    team = "a"
  }
}
`
function refusalOf(file: string, diff: string): string {
  try {
    searchReplace(file, diff)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  throw new Error('the blocks fit')
}

describe('a search text that does not occur', () => {
  it('is answered with the nearest lines and their numbers', () => {
    expect(refusalOf(BUCKETS, block('  bucket = "company-dta"\n  tags = {\n    team = "b"'))).toBe(
      'Block 1 (diff line 1): the search text does not occur in the file; it must match exactly. The nearest lines ' +
        '(> marks those that differ):\n' +
        '    8: resource "aws_s3_bucket" "data" {\n' +
        '>   9:   bucket = "company-data"\n' +
        '   10:   tags = {\n' +
        '>  11:     team = "a"\n' +
        '   12:   }\n' +
        'The file was not changed.',
    )
  })

  it.each([
    ['the indentation', '    bucket = "company-data"', 'only the indentation differs'],
    ['other blanks', '  bucket  =  "company-data"', 'only blanks differ'],
    ['ends of lines', '  bucket = "company-data"  \n  tags = {', 'only blanks at the ends of lines differ'],
  ])('is explained when only %s differ', (_, search, told) => {
    const text = refusalOf(BUCKETS, block(search))
    expect(text).toContain(`${told}. The file has:\n`)
    expect(text).toContain('   9:   bucket = "company-data"\n')
  })

  it('is explained when only empty lines around it are missing', () => {
    expect(refusalOf('one = "first"\ntwo = "second"\r\n', block('\none = "first"\ntwo = "second"'))).toContain(
      'only line ends or empty lines around the search text differ',
    )
  })

  it('is not sought further when the change is in place already', () => {
    const replaced = '  bucket = "company-data"\n  tags = {\n    team = "a"'
    expect(refusalOf(BUCKETS, block('  bucket = "company-dat"\n  tags = {', replaced))).toContain(
      'the file already holds the replacement, at line 9',
    )
    const long = 'description = "A line that is long enough to be found in one place only"'
    expect(refusalOf(`${BUCKETS}${long}\n`, block('absent', long))).toContain('at line 14')
  })

  it.each([
    ['says too little', BUCKETS, block('none of it', '  bucket = "company-data"')],
    ['stands in more places', BUCKETS, block('none of it', '  tags = {\n    team = "a"\n  }')],
    [
      'stands elsewhere than the search text',
      `${BUCKETS}resource "aws_sqs_queue" "jobs" {\n  name = "company-jobs"\n  delay = 7\n}\n`,
      block('resource "aws_sqs_queue" "jobs" {\n  delay = 5', '  bucket = "company-data"\n  tags = {'),
    ],
    [
      'stands elsewhere and only blanks of the search text differ',
      `${BUCKETS}locals {\n  team    = "b"\n  members = 3\n}\n`,
      block('  team = "b"\n  members = 3', '  bucket = "company-data"\n  tags = {'),
    ],
  ])('is not taken for made when the replacement %s', (_, file, diff) => {
    expect(refusalOf(file, diff)).not.toContain('already')
  })

  it('is told before all else when only blanks differ', () => {
    const file = `${BUCKETS}locals {\n  team    = "b"\n  members = 3\n}\n`
    expect(refusalOf(file, block('  team = "b"\n  members = 3', '  team = "c"\n  members = 3'))).toContain(
      'only blanks differ. The file has:\n   14: locals {\n>  15:   team    = "b"',
    )
  })

  it('is told to be like nothing when it is', () => {
    expect(refusalOf(BUCKETS, block('quite different words'))).toContain('nothing in the file is like it')
    expect(refusalOf('', block('anything'))).toContain('nothing in the file is like it')
  })

  it('shows twelve lines of a long one, from its first difference', () => {
    const lines = Array.from({ length: 60 }, (_, index) => `  name_${index} = "value ${index}"`)
    const shown = refusalOf(lines.join('\n'), block(lines.join('\n').replace('value 40', 'other')))
    const numbers = [...shown.matchAll(/^([> ]) *(\d+): /gm)].map(([, mark, number]) => `${mark}${number}`)
    expect(numbers).toHaveLength(12)
    expect(numbers.filter((number) => number.startsWith('>'))).toEqual(['>41'])
  })

  it.each([
    ['many lines that are alike', Array.from({ length: 25_000 }, (_, index) => `  key_${index} = "value"`).join('\n')],
    ['many equal lines', '}\n'.repeat(500_000)],
    ['one line', 'ab'.repeat(500_000)],
  ])('is answered for a file of a megabyte with %s', (_, file) => {
    const search = `${'}\n'.repeat(2_000)}  key_20000 = "valu"`
    expect(refusalOf(file, block(search)).length).toBeLessThan(4_000)
  })
})

describe('several blocks', () => {
  it('are told which of them fit', () => {
    const text = refusalOf(
      BUCKETS,
      block('  bucket = "company-data"') + block('nothing like this') + block('  bucket = "company-logs"'),
    )
    expect(text).toMatch(/^Block 2 \(diff line 6\): /)
    expect(text).toContain('\nBlocks 1 and 3 fit: send all blocks again in one call')
  })

  it('are all told when they do not fit', () => {
    const text = refusalOf(BUCKETS, block('    team = "a"') + block('absent'))
    expect(text).toContain('Block 1 (diff line 1): the search text occurs more than once, at lines 4 and 11;')
    expect(text).toContain('\nBlock 2 (diff line 6): the search text does not occur')
    expect(text).not.toContain('fit:')
  })

  it('name the lines of many places as far as there is room', () => {
    expect(refusalOf('aa\n'.repeat(30), block('aa'))).toContain('at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more')
    expect(refusalOf('aaaa', block('aa'))).toContain('all in line 1')
  })
})
