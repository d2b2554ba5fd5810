import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMasker, MASK, maskFlagged } from '../../src/base/masking.ts'
import { parsePlan } from '../../src/plan/plan.ts'
import { maskerOf, sensitiveLiterals } from '../../src/plan/sensitive.ts'
import { changesJson, changesText, planOf } from '../plan/fixtures.ts'

describe('createMasker', () => {
  it.each([
    ['a value in a text', ['S3cret!'], 'pw=S3cret!;', `pw=${MASK};`],
    ['the longest value first', ['abcdefg1', 'abcdefg1-2'], 'abcdefg1-2 abcdefg1', `${MASK} ${MASK}`],
    ['a long value inside of a word', ['hunter22'], 'xhunter22y', `x${MASK}y`],
    ['a short value as a whole word only', ['p4ss'], 'p4ssword p4ss', `p4ssword ${MASK}`],
    ['a short value between signs', ['p4ss'], 'postgres://u:p4ss@host', `postgres://u:${MASK}@host`],
    [
      'a common word in quotes only',
      ['password'],
      'password = "password" and db_password',
      `password = "${MASK}" and db_password`,
    ],
    [
      'a common word in quotes of JSON',
      ['postgres'],
      '"{\\"user\\":\\"postgres\\"}" postgres',
      `"{\\"user\\":\\"${MASK}\\"}" postgres`,
    ],
    ['a common word that is the whole text', ['postgres'], 'postgres', MASK],
    ['a mixed word anywhere', ['XyzzyPlugh'], 'uXyzzyPlugh', `u${MASK}`],
    ['no port numbers', ['5432'], 'port 5432', 'port 5432'],
    ['nothing under four characters', ['abc', '12', ''], 'abc 12', 'abc 12'],
    ['no booleans or null', ['true', 'false', 'null'], 'true false null', 'true false null'],
    ['signs of regular expressions', ['a.b*c$(x'], 'a.b*c$(x aXbbc', `${MASK} aXbbc`],
    ['the escaped form', ['line1\nline "2"'], '{"key":"line1\\nline \\"2\\""}', `{"key":"${MASK}"}`],
    [
      'the form of the JSON of the engine',
      ['pa&ss<word>1'],
      '{"t":"pa\\u0026ss\\u003cword\\u003e1"}',
      `{"t":"${MASK}"}`,
    ],
    ['a line separator in such JSON', ['first\u2028other'], 'first\\u2028other', MASK],
    [
      'such JSON inside of JSON',
      ['pa&ss"word1'],
      '"{\\"t\\":\\"pa\\\\u0026ss\\\\\\"word1\\"}"',
      `"{\\"t\\":\\"${MASK}\\"}"`,
    ],
    ['the form of the code of the engine', [`ab\${c}de-%{x}`], `v = "ab$\${c}de-%%{x}"`, `v = "${MASK}"`],
    ['characters outside of ASCII, escaped', ['grün-größe1'], '"gr\\u00fcn-gr\\u00f6\\u00dfe1"', `"${MASK}"`],
    ['escaped slashes', ['ab/cd/ef12'], '"ab\\/cd\\/ef12"', `"${MASK}"`],
    [
      'the form of addresses',
      ['p@ss/word 1+x*'],
      'https://a/p%40ss%2Fword%201%2Bx*?k=p%40ss%2fword+1%2bx%2a',
      `https://a/${MASK}?k=${MASK}`,
    ],
    ['letters with accents of their own', ['päss'.normalize('NFD')], 'päss'.normalize('NFC'), MASK],
    ['letters with accents in one', ['päss'.normalize('NFC')], 'päss'.normalize('NFD'), MASK],
    ['no brackets of a secret document', ['{\n  "key": "AAAABBBB"\n}'], '{\n  a = 1\n}', '{\n  a = 1\n}'],
    ['every longer line of a key', ['-----BEGIN-----\nAAAABBBB\nx'], '  AAAABBBB\n x', `  ${MASK}\n x`],
    ['digits of a number', ['123456'], 'pin 123456 of 1234567', `pin ${MASK} of 1234567`],
    ['letters of any script', ['pä55'], 'pä55 pä55wörter', `${MASK} pä55wörter`],
    ['two values in one line', ['p4ss', 'w0rd-of-b'], 'a:p4ss@x b:w0rd-of-b@y', `a:${MASK}@x b:${MASK}@y`],
    ['values that overlap', ['secretA1secretB2', 'secretB2secretC3'], 'x secretA1secretB2secretC3 y', `x ${MASK} y`],
    ['values of signs that take two units', ['😀😀😀😀x'], '😀😀😀😀😀x', `😀${MASK}`],
    ['a replacement pattern literally', ["$&$'12345"], "x $&$'12345", `x ${MASK}`],
  ])('masks %s', (_, literals, text, expected) => {
    expect(createMasker(literals).text(text)).toBe(expected)
  })

  it('masks a long value once, and its pieces where it is cut', () => {
    const value = Array.from({ length: 300 }, (_, index) => `${index}😀`).join('')
    const masker = createMasker([value])
    expect(masker.text(`a ${value} b ${value}${value}`)).toBe(`a ${MASK} b ${MASK}${MASK}`)
    const [before = '', after = ''] = masker.text(`a ${value.slice(0, 700)} b`).split(MASK)
    expect(before).toBe('a ')
    expect(after.length).toBeLessThan(256)
  })

  it('masks the same in slices, also where values overlap and where one lies between two', async () => {
    const letter = fc.constantFrom('a', 'b', '1', '"', ' ', '\n', '\u{1f600}')
    const value = fc.array(letter, { minLength: 4, maxLength: 40 }).map((letters) => letters.join(''))
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { maxLength: 20 }),
        fc.array(value, { maxLength: 200 }),
        async (values, words) => {
          const masker = createMasker(values)
          const text = [...words, ...values, ...words].join('')
          const long = Array.from({ length: 40 }, () => text).join('')
          const masked = await masker.textInSlices(long)
          expect(masked).toBe(masker.text(long))
          for (const one of values) if (one.trim().length >= 16) expect(masked).not.toContain(one)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('masks strings of JSON and leaves keys, numbers and shape', () => {
    const masker = createMasker(['hunter22'])
    expect(masker.json({ hunter22: ['see hunter22', 5, null, { deep: 'hunter22' }] })).toEqual({
      hunter22: [`see ${MASK}`, 5, null, { deep: MASK }],
    })
  })
})

describe('maskFlagged', () => {
  it.each([
    ['the whole value', { a: 1 }, true, MASK],
    ['nothing', { a: 1 }, false, { a: 1 }],
    ['absent flags', { a: 1 }, undefined, { a: 1 }],
    ['a nested key', { a: { b: 'x', c: 'y' } }, { a: { b: true } }, { a: { b: MASK, c: 'y' } }],
    ['an item of a list', ['x', 'y', 'z'], [false, true], ['x', MASK, 'z']],
    ['an object in a list', [{ k: 'v', n: 1 }], [{ k: true }], [{ k: MASK, n: 1 }]],
    ['a whole nested object', { a: { b: [1] } }, { a: true }, { a: MASK }],
    ['a boolean and a number', { a: true, b: 7 }, { a: true, b: true }, { a: MASK, b: MASK }],
    ['no null', { a: null }, { a: true }, { a: null }],
    ['flags of another shape', ['x'], { 0: true }, ['x']],
    ['keys of the prototype', { constructor: 'x' }, {}, { constructor: 'x' }],
  ])('masks %s', (_, value, flags, expected) => {
    expect(maskFlagged(value, flags)).toEqual(expected)
  })
})

describe('a real plan', () => {
  const plan = parsePlan(changesJson)

  it('knows the values of variables, changes, states and outputs', () => {
    const literals = sensitiveLiterals(plan)
    expect(literals).toContain('S3cret-Passw0rd!')
    expect(literals).toContain('S3cret-Passw0rd!-2')
    expect(literals).toContain('tok-ABCDEF-123456')
  })

  it('hides what the engine itself shows in its text', () => {
    expect(changesText).toContain('S3cret-Passw0rd!')
    const masked = maskerOf(plan).text(changesText)
    expect(masked).not.toContain('S3cret-Passw0rd!')
    expect(masked.replaceAll(MASK, '')).toBe(changesText.replaceAll('S3cret-Passw0rd!', '').replaceAll(MASK, ''))
  })
})

describe('sensitive values of less common places', () => {
  it.each([
    [
      'a nested variable default',
      {
        root_module: {
          module_calls: { net: { module: { variables: { t: { sensitive: true, default: 'SECRET-VALUE' } } } } },
        },
      },
    ],
    [
      'a constant given to a module',
      {
        root_module: {
          module_calls: {
            net: {
              expressions: { t: { constant_value: 'SECRET-VALUE' } },
              module: { variables: { t: { sensitive: true } } },
            },
          },
        },
      },
    ],
    [
      'a default of an ephemeral variable',
      { root_module: { variables: { t: { ephemeral: true, default: 'SECRET-VALUE' } } } },
    ],
    ['a root default', { root_module: { variables: { t: { sensitive: true, default: { a: ['SECRET-VALUE'] } } } } }],
  ])('%s', (_, configuration) => {
    expect(sensitiveLiterals(planOf([], { configuration }))).toEqual(new Set(['SECRET-VALUE']))
  })

  it.each([
    [
      'an output change',
      { output_changes: { o: { actions: ['update'], before: 'SECRET-VALUE', after: null, before_sensitive: true } } },
    ],
    ['a prior output', { prior_state: { values: { outputs: { o: { sensitive: true, value: ['SECRET-VALUE'] } } } } }],
    [
      'drift seen by the engine',
      { resource_drift: [{ change: { before: { p: 'SECRET-VALUE' }, before_sensitive: { p: true } } }] },
    ],
    [
      'a state value in a child module',
      {
        prior_state: {
          values: {
            root_module: {
              child_modules: [{ resources: [{ values: { p: 'SECRET-VALUE' }, sensitive_values: { p: true } }] }],
            },
          },
        },
      },
    ],
  ])('%s', (_, rest) => {
    const plan = planOf([], rest)
    expect(sensitiveLiterals(plan)).toEqual(new Set(['SECRET-VALUE']))
  })

  it('knows a variable that is sensitive at the root', () => {
    const plan = planOf([], {
      variables: { pw: { value: 'SECRET-VALUE' }, size: { value: 3 } },
      configuration: { root_module: { variables: { pw: { sensitive: true }, size: {} } } },
    })
    expect(sensitiveLiterals(plan)).toEqual(new Set(['SECRET-VALUE']))
  })
})
