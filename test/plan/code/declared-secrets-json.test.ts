import { expect, it } from 'vitest'
import { findAssignedSecretsInJson, findDeclaredSecretsInJson } from '../../../src/plan/code/declared-secrets.ts'

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
})
