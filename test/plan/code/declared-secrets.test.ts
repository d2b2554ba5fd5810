import { expect, it } from 'vitest'
import {
  findAssignedSecrets,
  findAssignedSecretsInJson,
  findDeclaredSecrets,
  findDeclaredSecretsInJson,
} from '../../../src/plan/code/declared-secrets.ts'

const variable = (body: string, name = 'password') => `variable "${name}" {\n  type = string\n${body}\n}\n`

it.each([
  ['a default', variable('  sensitive = true\n  default = "topsecret"'), ['topsecret']],
  ['a default before the flag', variable('  default   = "topsecret"\n  sensitive   =   true'), ['topsecret']],
  ['no flag', variable('  default = "plain"'), []],
  ['a flag that is off', variable('  default = "plain"\n  sensitive = false'), []],
  ['no default', variable('  sensitive = true'), []],
  ['a flag in a comment', variable('  # sensitive = true\n  default = "plain"'), []],
  [
    'braces in strings and comments',
    variable('  description = "a } b"\n  # }\n  sensitive = true\n  default = "x{y"'),
    ['x{y'],
  ],
  [
    'a map and lists in it',
    variable(
      '  sensitive = true\n  default = {\n    a = "one"\n    b = ["two", "three"] # "no"\n  }\n  nullable = false',
    ),
    ['one', 'two', 'three'],
  ],
  ['a heredoc', variable('  sensitive = true\n  default = <<EOT\nline 1\nline 2 }\nEOT\n'), ['line 1\nline 2 }']],
  ['a heredoc with carriage returns', variable('  sensitive = true\r\n  default = <<KEY\r\nline 1\r\nKEY'), ['line 1']],
  ['a heredoc whose marker has a hyphen', variable('  sensitive = true\n  default = <<A-B\nline 1\nA-B'), ['line 1']],
  ['escapes', variable('  sensitive = true\n  default = "a\\"b\\\\c\\n"'), ['a"b\\c']],
  ['escaped templates', variable('  sensitive = true\n  default = "a%%{b}"'), ['a%{b}', 'a%%{b}']],
  ['an unclosed block', 'variable "x" {\n  sensitive = true\n  default = "topsecret"\n', ['topsecret']],
  ['a number', variable('  sensitive = true\n  default = 9223372036854773263'), ['9223372036854773263']],
  ['a negative number', variable('  sensitive = true\n  default = -84736251'), ['84736251']],
  ['a character of eight digits', variable('  sensitive = true\n  default = "pass\\U0001F600word"'), ['pass😀word']],
  ['an escape that there is not', variable('  sensitive = true\n  default = "C:\\keys\\word1"'), ['C:\\keys\\word1']],
  ['a number with an exponent', variable('  sensitive = true\n  default = 8.4736251e+10'), ['8.4736251e+10']],
  ['a flag and a number in parentheses', variable('  sensitive = (true)\n  default = (84736251)'), ['84736251']],
  [
    'a comment in the header',
    'variable /* old */ "x" {\n  sensitive = true\n  default = "topsecret"\n}\n',
    ['topsecret'],
  ],
  ['the neighbour is not meant', variable('  sensitive = true', 'a') + variable('  default = "plain"', 'b'), []],
  [
    'the function',
    'locals {\n  a = sensitive("topsecret")\n  b = [sensitive ( { x = "one", y = ["two"] } )]\n}',
    ['topsecret', 'one', 'two'],
  ],
  [
    'the function around an expression',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of the engine's language
    'a = sensitive("${var.x}-1")\nb = sensitive(var.y)\nc = nonsensitive("plain")',
    [],
  ],
  ['no HCL at all', '}}}{{{"', []],
])('finds the literals of %s', (_, code, expected) => {
  expect(findDeclaredSecrets(code).literals).toEqual(expected)
})

it('names the variables', () => {
  expect(
    findDeclaredSecrets(variable('  sensitive = true', 'a') + variable('', 'b') + variable('  sensitive = true', 'c-d'))
      .names,
  ).toEqual(['a', 'c-d'])
})

it('reads what is assigned to them', () => {
  const tfvars =
    'region = "eu"\npassword = "from tfvars"\nkeys = ["k1", "k2"]\n# password = "old"\npassword_hint = "dog"\n'
  expect(findAssignedSecrets(tfvars, ['password', 'keys'])).toEqual(['from tfvars', 'k1', 'k2'])
})

it.each(['sensitive({', 'variable "x" {\n'])('takes many blocks that never close in reasonable steps: %j', (block) => {
  expect(findDeclaredSecrets(block.repeat(18_000)).literals).toEqual([])
})

it.each(['/*', '<<A\n'])('takes comments and heredocs that never close in reasonable steps: %j', (opening) => {
  const code = `${'variable "x" {\n'.repeat(1_000)}${opening.repeat(5_000)}`
  expect(findDeclaredSecrets(code).names).toEqual([])
  expect(findAssignedSecrets(`a = ${opening}`.repeat(100_000), ['a'])).toEqual([])
})

it('takes a long file without closing quotes in reasonable steps', () => {
  const code = `variable "x" {\n  sensitive = true\n  default = "${'a\\'.repeat(50_000)}`
  expect(findDeclaredSecrets(code).names).toEqual(['x'])
})

const file = (variable: unknown) => JSON.stringify({ variable })

it.each([
  ['a default', file({ pw: { sensitive: true, default: 'topsecret' } }), ['pw'], ['topsecret']],
  ['a list of blocks', file([{ pw: [{ sensitive: true, default: 'topsecret' }] }]), ['pw'], ['topsecret']],
  [
    'a map',
    file({ pw: { sensitive: 'true', default: { a: 'one', b: ['two', 3, null] } } }),
    ['pw'],
    ['one', 'two', '3'],
  ],
  [
    'a long number',
    '{"variable": {"pin": {"sensitive": true, "default": 12345678901234567890}}}',
    ['pin'],
    ['12345678901234567890'],
  ],
  ['no default', file({ pw: { sensitive: true } }), ['pw'], []],
  ['no flag', file({ pw: { default: 'plain' }, other: { sensitive: false, default: 'plain' } }), [], []],
  ['other shapes', file({ pw: 'topsecret', x: null, y: [[1]] }), [], []],
  ['no variables', JSON.stringify([{ resource: {} }, 3]), [], []],
  ['no JSON', '{"variable": {', [], []],
])('reads what %s declares', (_, code, names, literals) => {
  expect(findDeclaredSecretsInJson(code)).toEqual({ names, literals })
})

it('reads what is assigned to them', () => {
  const tfvars = JSON.stringify({ pw: 'topsecret', keys: { a: ['k1', 'k2'] }, region: 'eu' })
  expect(findAssignedSecretsInJson(tfvars, ['pw', 'keys', 'unknown', 'toString'])).toEqual(['topsecret', 'k1', 'k2'])
  expect(findAssignedSecretsInJson('no json', ['pw'])).toEqual([])
  expect(findAssignedSecretsInJson('{"pins": [12345678901234567890]}', ['pins'])).toEqual(['12345678901234567890'])
})
