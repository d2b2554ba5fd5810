import { describe, expect, it } from 'vitest'
import { identityOf } from '../../../src/plan/imports/identifiers.ts'

describe('two spellings of one identifier', () => {
  it.each([
    ['azure', '/subscriptions/S/resourceGroups/Web', '/subscriptions/s/resourcegroups/web', true],
    ['aws', 'arn:aws:s3:::Web', 'arn:aws:s3:::web', false],
    ['gcp', 'web-prod roles/viewer user:a@example.com', 'web-prod/roles/viewer/user:a@example.com', true],
    [
      'gcp',
      'web-prod projects/web-prod/roles/own group:a@example.com',
      'web-prod/projects/web-prod/roles/own/group:a@example.com',
      true,
    ],
    ['gcp', 'web-prod roles/viewer user:a@example.com', 'web-prod/roles/editor/user:a@example.com', false],
    ['gcp', 'a bucket with blanks', 'a/bucket/with/blanks', false],
    ['oci', 'n/ns/b/logs of 2026', 'n/ns/b/logs/of/2026', false],
  ] as const)('%s: %s and %s', (provider, one, other, same) => {
    expect(identityOf(provider)(one) === identityOf(provider)(other)).toBe(same)
  })
})
