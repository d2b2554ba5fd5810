import { expect, it } from 'vitest'
import { nearPaths } from '../../../../pipeline/workspace/files/access.ts'

it.each([
  [
    'the same name in the nearest folder',
    'modules/net/main.tf',
    ['envs/prod/main.tf', 'main.tf', 'modules/network/main.tf'],
  ],
  ['the same name before a similar one', 'net/vpc.tf', ['net/vpcs.tf', 'a/b/c/vpc.tf']],
  ['few letters before a beginning', 'modules/queue', ['modules/queue-of-jobs', 'modules/queues']],
])('names the best match first: %s', (_, path, existing) => {
  const [first, ...others] = nearPaths(path, existing)
  expect(first).toBe(existing.at(-1))
  expect(others).toHaveLength(existing.length - 1)
})

it('names nothing that has nothing to do with the path, and at most five', () => {
  expect(nearPaths('modules/net', ['modules/database', 'a/storage'])).toEqual([])
  expect(nearPaths('modules/net', ['modules/network'])).toEqual(['modules/network'])
  expect(
    nearPaths(
      'x.tf',
      Array.from({ length: 9 }, (_, index) => `${index}/x.tf`),
    ),
  ).toHaveLength(5)
})
