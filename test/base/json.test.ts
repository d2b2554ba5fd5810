import { describe, expect, it } from 'vitest'
import { ExactNumber, isEqualJson, isJsonObject, type Json, parseJson } from '../../src/base/json.ts'
import { createMasker, MASK, maskFlagged } from '../../src/base/masking.ts'

const written = (text: string) => JSON.stringify(parseJson(text))

describe('numbers of a JSON text', () => {
  it.each([
    '9007199254740993',
    '-9223372036854775808',
    '123456789012345678901234567890',
    '1000000000000000000000000000000',
    '0.1234567890123456789',
    '12345678.123456789012',
    '1e400',
    '1e-400',
  ])('keep every digit: %s', (number) => {
    expect(parseJson(number)).toEqual(new ExactNumber(number))
    for (const text of [`[${number}]`, `{"a":[1,{"b":${number}}],"c":"x"}`]) expect(written(text)).toBe(text)
  })

  it.each([
    '0',
    '-1',
    '1.5',
    '9007199254740991',
    '9007199254740992',
    '0.30000000000000004',
    '1e300',
  ])('stay plain where a double has them exactly: %s', (number) => {
    expect(parseJson(`{"a":${number},"b":9007199254740993}`)).toMatchObject({ a: Number(number) })
  })

  it('are no texts: a text of digits stays one', () => {
    expect(parseJson('{"a":"9007199254740993","b":", 9007199254740993"}')).toEqual({
      a: '9007199254740993',
      b: ', 9007199254740993',
    })
  })

  it('are no objects', () => {
    expect(isJsonObject(parseJson('9007199254740993'))).toBe(false)
  })

  it.each([
    ['9007199254740992', '9007199254740993', false],
    ['9007199254740993', '9007199254740993', true],
    ['1.0000000000000000', '1', true],
    ['10000000000000000000000', '1e22', true],
    ['0.00000000000000000', '0', true],
    ['-9007199254740993', '9007199254740993', false],
    ['9007199254740993', '"9007199254740993"', false],
    ['9007199254740993', '{}', false],
  ])('are compared by value: %s and %s', (a, b, expected) => {
    expect(isEqualJson(parseJson(`[${a}]`), parseJson(`[${b}]`))).toBe(expected)
    expect(isEqualJson(parseJson(b), parseJson(a))).toBe(expected)
  })

  it('are masked as a whole', () => {
    const value: Json = [new ExactNumber('9223372036854773263'), new ExactNumber('9223372036854773264')]
    expect(JSON.stringify(createMasker(['9223372036854773263']).json(value))).toBe(`["${MASK}",9223372036854773264]`)
    expect(maskFlagged(value, [true])).toEqual([MASK, value[1]])
  })
})
