import { describe, expect, it } from 'vitest'
import { searchReplace } from '../../../../pipeline/workspace/files/search-replace.ts'

const block = (search: string, replace: string) =>
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

  it('counts matches that overlap', () => {
    expect(() => searchReplace('aaa', block('aa', 'b'))).toThrow('more than once')
  })
})
