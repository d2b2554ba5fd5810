import fc from 'fast-check'
import type { Schema } from '../../helpers/described.ts'

/** Values at the edges of parsers and databases. */
const POISON_TEXT = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udc00y',
  '\u2028',
  '\u0000\u0001\u001f',
  '\x1f',
  '\ufeff',
  '😀'.repeat(130),
  'İıſß',
  '\u202e',
  "'; DROP TABLE sessions; --",
  '%',
  '_',
  '\\',
  '%\\',
  '$1',
  '#{x}',
  '{{7*7}}',
  '../../etc/passwd',
  '--upload-pack=x',
  '9'.repeat(400),
  '-1',
  '1e309',
  'NaN',
  'null',
  'true',
  '[]',
  '{}',
  'x'.repeat(1017),
  'x'.repeat(20_000),
  '00000000-0000-0000-0000-000000000000',
  '{00000000-0000-0000-0000-000000000000}',
  'urn:uuid:00000000-0000-0000-0000-000000000000',
  'https://user:pw@git.example.com/x',
  'https://[::1]/x',
  'https://169.254.169.254/x',
  'https://\u0000/',
  'https://xn--/',
  'https://a.b/%zz',
  'ssh://git@x/y',
  'file:///etc/passwd',
  `https://github.com/acme/${'x'.repeat(3_000)}`,
  '__proto__',
  'constructor',
  '٣',
  '１２',
  '0x10',
  '1_000',
  '+1',
  ' 7 ',
  '7.0',
  '2147483648',
  '9007199254740993',
]
const POISON_OTHER: unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  [],
  [[]],
  [null],
  {},
  { a: { b: {} } },
  { __proto__: null },
]

export const poisonText = fc.constantFrom(...POISON_TEXT)
const poison: fc.Arbitrary<unknown> = fc.oneof(
  poisonText,
  fc.constantFrom(...POISON_OTHER),
  fc.jsonValue({ maxDepth: 4 }),
  fc.integer({ min: 1, max: 2_000 }).map(nested),
)

function nested(depth: number): unknown {
  let value: unknown = 0
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

/** Values of the world under test that a schema cannot know. */
export interface Known {
  uuids: readonly string[]
  repositories: readonly string[]
  users: readonly number[]
}

/** Generates values that mostly fit the schema. */
export function described(schema: Schema, known: Known, resolve: (name: string) => Schema): fc.Arbitrary<unknown> {
  const inner = (part: unknown) => described((part ?? {}) as Schema, known, resolve)
  if (typeof schema.$ref === 'string') return inner(resolve(schema.$ref.split('/').at(-1) ?? ''))
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  // Alternatives beside properties only say which of these go together.
  const alternatives = schema.properties ? null : (schema.anyOf ?? schema.oneOf)
  if (Array.isArray(alternatives)) return fc.oneof(...alternatives.map(inner))
  if (Array.isArray(schema.allOf))
    return fc.tuple(...schema.allOf.map(inner)).map((parts) => Object.assign({}, ...parts))
  const types = [schema.type].flat()
  return fc.oneof(...types.map((type) => ofType(String(type), schema, known, inner)))
}

function ofType(
  type: string,
  schema: Schema,
  known: Known,
  inner: (part: unknown) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return text(schema, known)
    case 'integer':
      return fc.oneof(
        fc.constantFrom(...known.users),
        fc.integer({ min: Number(schema.minimum ?? -5), max: Number(schema.maximum ?? 2 ** 31 + 5) }),
      )
    case 'number':
      return fc.double()
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(inner(schema.items), { maxLength: Math.min(Number(schema.maxItems ?? 5) + 1, 300) })
    default:
      return object(schema, inner)
  }
}

function text(schema: Schema, known: Known): fc.Arbitrary<string> {
  if (schema.format === 'uuid') return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...known.uuids) }, fc.uuid())
  if (schema.format === 'uri')
    return fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...known.repositories) },
      fc.webUrl({ validSchemes: ['https'] }),
    )
  const limit = Math.min(Number(schema.maxLength ?? 60), 300)
  return fc.oneof(
    fc.string({ maxLength: limit, unit: 'grapheme' }),
    fc.string({ maxLength: limit, unit: 'binary' }),
    fc.constantFrom('a', 'acme', 'list'),
  )
}

function object(schema: Schema, inner: (part: unknown) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, unknown>)
  const required = (schema.required ?? []) as string[]
  return fc.record(Object.fromEntries(properties.map(([key, part]) => [key, inner(part)])), { requiredKeys: required })
}

/** Generates the same object with one key spoiled, missing or added, or something else altogether. */
export const spoiled = (whole: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 6, arbitrary: whole },
    {
      weight: 5,
      arbitrary: fc.tuple(whole, fc.nat(), poison).map(([value, index, bad]) => withKey(value, index, bad)),
    },
    { weight: 2, arbitrary: fc.tuple(whole, fc.nat()).map(([value, index]) => withKey(value, index, undefined)) },
    {
      weight: 1,
      arbitrary: fc.tuple(whole, poisonText, poison).map(([value, key, bad]) => ({ ...(value as object), [key]: bad })),
    },
    { weight: 1, arbitrary: poison },
  )

function withKey(value: unknown, index: number, bad: unknown): unknown {
  if (typeof value !== 'object' || value === null) return bad ?? null
  const keys = Object.keys(value)
  const key = keys[index % Math.max(1, keys.length)]
  return key === undefined ? value : { ...value, [key]: bad }
}

/** Generates a body as bytes with its content type: mostly the JSON of a value, sometimes cut, doubled or not UTF-8. */
export const bodyOf = (
  value: fc.Arbitrary<unknown>,
): fc.Arbitrary<{ bytes: Uint8Array<ArrayBuffer>; type: string | null }> => {
  const encode = (content: string) => new TextEncoder().encode(content)
  const json = value.map((content) => JSON.stringify(content) ?? '')
  const type = fc.oneof(
    { weight: 12, arbitrary: fc.constant('application/json') },
    fc.constantFrom(
      'application/json; charset=utf-8',
      'application/vnd.x+json',
      'text/plain',
      'multipart/form-data',
      'application/x-www-form-urlencoded',
      null,
    ),
  )
  const bytes = fc.oneof(
    { weight: 12, arbitrary: json.map(encode) },
    fc.tuple(json, fc.nat({ max: 200 })).map(([content, end]) => encode(content.slice(0, end))),
    json.map((content) => encode(content + content)),
    json.map((content) => encode(content.replace(':', ':1e999999,"x":'))),
    fc.integer({ min: 10, max: 50_000 }).map((depth) => encode('['.repeat(depth))),
    fc.uint8Array({ maxLength: 50 }).map((raw) => new Uint8Array(raw)),
    fc.constant(new Uint8Array()),
  )
  return fc.record({ bytes, type })
}

/** Values of headers as callers send them. `fetch` itself refuses control characters. */
export const headers: fc.Arbitrary<Record<string, string>> = fc.record(
  {
    accept: fc.constantFrom('*/*', 'text/html', 'application/xml', ';;;', ''),
    origin: fc.constantFrom('http://localhost', 'https://evil.example', 'null', ''),
    'x-request-id': fc.oneof(
      fc.constantFrom('req-1', 'x'.repeat(129), 'a b'),
      fc.string({ maxLength: 20 }).map(headerText),
    ),
    'content-length': fc.constantFrom('0', '-1', 'x', '99999999999'),
    'access-control-request-method': fc.constantFrom('POST', 'BREW'),
    range: fc.constant('bytes=0-'),
    'x-forwarded-for': fc.constant('127.0.0.1'),
  },
  { requiredKeys: [] },
)

export function headerText(value: string): string {
  return value.replaceAll(/[^\x20-\x7e\x80-\xff]/g, '').trim()
}
