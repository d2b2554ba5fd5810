import { describe, expect, it } from 'vitest'
import { JsonTooLarge, parseLimitedJson } from '../../src/base/limited-json.ts'

const parse = (text: string) => parseLimitedJson(new TextEncoder().encode(text), { values: 10, depth: 3 })

describe('limited JSON', () => {
  it.each([
    '{"a":[1,2,{"b":null}]}',
    '"[[[[[[,,,,,,,,,,,,"',
    '"\\"[[[[\\\\"',
    '[1,2,3,4,5,6,7,8,9]',
    ' 1 ',
    '[[[]],[]]',
  ])('reads %s like the parser', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  it.each<[string, 'values' | 'depth']>([
    ['[1,2,3,4,5,6,7,8,9,10]', 'values'],
    ['{"a":1,"b":2,"c":3,"d":4,"e":5}', 'values'],
    ['[[],[],[],[],[]]', 'values'],
    ['[[[[]]]]', 'depth'],
    ['{"a":{"b":{"c":{}}}}', 'depth'],
    ['[[[[', 'depth'],
    ['"\\\\",[[[[', 'depth'],
  ])('refuses %s for its %s', (text, limit) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ name: 'JsonTooLarge', limit }))
  })

  it('tells faults of the text from faults of the bytes and of the size', () => {
    expect(() => parse('{')).toThrow(SyntaxError)
    expect(() => parseLimitedJson(new Uint8Array([0x22, 0xff, 0x22]))).toThrow(TypeError)
    expect(() => parseLimitedJson(new TextEncoder().encode('['.repeat(101)))).toThrow(JsonTooLarge)
  })
})
