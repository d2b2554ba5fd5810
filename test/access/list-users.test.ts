import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listUsers } from '../../src/access/users.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createTestDatabase()
  await db.sql`
    INSERT INTO users (issuer, subject, email, display_name) VALUES
      ('i', 'a', 'ann@example.org', 'Ann'), ('i', 'b', 'b_b@example.org', '50% Bob'),
      ('i', 'c', NULL, 'Cyd\\'), ('i', 'd', 'dee@example.net', NULL), ('i', 'e', NULL, NULL)`
})
afterAll(() => db.drop())

const list = (search?: string, page = 1, page_size = 10) =>
  listUsers(db.sql, { page, page_size, ...(search === undefined ? {} : { search }) })
const subjects = async (search?: string) => (await list(search)).items.map(({ subject }) => subject).join('')

describe('listUsers', () => {
  it.each([
    [undefined, 'abcde'],
    ['', 'abcde'],
    [' ', 'abcde'],
    ['EXAMPLE.ORG', 'ab'],
    ['ann', 'a'],
    ['bob', 'b'],
    ['%', 'b'],
    ['_', 'b'],
    ['\\', 'c'],
    ["'; DROP TABLE users; --", ''],
    ['\0', ''],
    ['i', ''],
  ])('finds %j', async (search, expected) => {
    expect(await subjects(search)).toBe(expected)
    expect((await list(search)).total).toBe(expected.length)
  })

  it('pages in the order of the keys', async () => {
    expect((await list(undefined, 2, 2)).items.map(({ subject }) => subject)).toEqual(['c', 'd'])
    expect(await list(undefined, 2_147_483_647, 100)).toEqual({ items: [], total: 5 })
  })
})
