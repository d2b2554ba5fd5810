import { expect, it } from 'vitest'
import { type ConsoleFiles, isHashedPath, keepConsoleFiles, readKeptFile } from '../../src/data/console-files.ts'
import { provideDatabase } from '../helpers/postgres.ts'

const db = provideDatabase()

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, index) => index)
const files = (...paths: string[]): ConsoleFiles =>
  new Map(paths.map((path) => [path, { content_type: 'text/javascript', identity: EVERY_BYTE }]))
const age = (path: string, days: number) =>
  db.sql`UPDATE console_files SET seen_at = seen_at - make_interval(days => ${days}) WHERE path = ${path}`

it('stores files that are named by their content, byte for byte, and no others', async () => {
  const main = { content_type: 'text/css', identity: EVERY_BYTE, br: EVERY_BYTE.slice(1), gzip: EVERY_BYTE.slice(2) }
  const given: ConsoleFiles = new Map([['assets/main-AAAAAAAA.css', main], ...files('index.html', 'assets/plain.js')])
  expect(await keepConsoleFiles(db.sql, given)).toEqual({ added: 1, removed: 0 })
  expect(await readKeptFile(db.sql, 'assets/main-AAAAAAAA.css')).toEqual(main)
  expect(await readKeptFile(db.sql, 'index.html')).toBeNull()
  expect(await keepConsoleFiles(db.sql, given)).toEqual({ added: 0, removed: 0 })
})

it('removes what no core has had for 30 days', async () => {
  const [old, present, gone] = ['assets/old-BBBBBBBB.js', 'assets/now-CCCCCCCC.js', 'assets/gone-DDDDDDDD.js']
  await keepConsoleFiles(db.sql, files(old, present, gone))
  await age(old, 29)
  await age(present, 40)
  await age(gone, 31)
  expect(await keepConsoleFiles(db.sql, files(present))).toEqual({ added: 0, removed: 1 })
  expect(await readKeptFile(db.sql, gone)).toBeNull()
  expect(await readKeptFile(db.sql, old)).toEqual({ content_type: 'text/javascript', identity: EVERY_BYTE })
  expect(await readKeptFile(db.sql, present)).not.toBeNull()
})

it('lets several cores store the same build at once', async () => {
  const build = files(...Array.from({ length: 20 }, (_, index) => `assets/part${index}-EEEEEEEE.js`))
  const results = await Promise.all([1, 2, 3].map(() => keepConsoleFiles(db.sql, build)))
  expect(results.every(({ removed }) => removed === 0)).toBe(true)
  expect(await readKeptFile(db.sql, 'assets/part7-EEEEEEEE.js')).not.toBeNull()
})

it.each([
  ['assets/main-1A2B3C4D.js', true],
  ['assets/layout-worker-1A2B3C4D.js', true],
  ['assets/main-1a2b3c4d.js', true],
  ['assets/main-1a2B3c4d.js', false],
  ['assets/main-1A2B3C4D.html', false],
  ['assets/../main-1A2B3C4D.js', false],
  ['assets/main-1A2B3C4D.js\n', false],
  ['main-1A2B3C4D.js', false],
])('%j has the form of the build: %s', (path, is) => expect(isHashedPath(path)).toBe(is))
