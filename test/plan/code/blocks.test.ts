import { expect, it } from 'vitest'
import { readCodeBlocks } from '../../../src/plan/code/modules.ts'

it('reads expressions over several lines, and no attributes of nested blocks', () => {
  const body = '\n  a = 1 # one\n  b = [\n    2,\n  ]\n  inner {\n    a = 3\n  }\n  e = x["k"].y\n'
  const [block] = readCodeBlocks(`resource "t" "n" {${body}}`)
  expect([...(block?.attributes ?? [])]).toEqual([
    ['a', '1'],
    ['b', '[ 2, ]'],
    ['e', 'x["k"].y'],
  ])
  expect(block).toMatchObject({
    kind: 'resource',
    labels: ['t', 'n'],
    body: 'a = 1 b = [ 2, ] inner { a = 3 } e = x["k"].y',
  })
})

it('reads the same from a file with either kind of line ends', () => {
  const code = 'resource "t" "n" {\n  a = <<EOT\n}\nEOT\n}\nlocals {\n}\n'
  expect(readCodeBlocks(code.replaceAll('\n', '\r\n'))).toEqual(readCodeBlocks(code))
})
