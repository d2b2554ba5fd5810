import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { createLogger } from '../../src/base/log.ts'
import { keepStoring, readConsoleFiles } from '../../src/runtime/console-files.ts'
import { useFolder } from '../helpers/folder.ts'

const folder = useFolder(beforeEach)

const write = async (path: string, text: string) => {
  await mkdir(join(folder.path, path, '..'), { recursive: true })
  await writeFile(join(folder.path, path), text)
}
const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes)

it('reads every file with the forms beside it', async () => {
  await write('index.html', 'page')
  await write('index.html.br', 'small page')
  await write('assets/main-1A2B3C4D.js', 'main')
  await write('assets/main-1A2B3C4D.js.gz', 'small main')
  await write('config.example.json', '{}')
  await write('notes.txt', 'not of the console')
  const files = await readConsoleFiles(folder.path)
  expect([...(files?.keys() ?? [])].sort()).toEqual(['assets/main-1A2B3C4D.js', 'index.html'])
  const main = files?.get('assets/main-1A2B3C4D.js')
  expect(main?.content_type).toBe('text/javascript; charset=utf-8')
  expect([text(main?.identity), text(main?.br), text(main?.gzip)]).toEqual(['main', undefined, 'small main'])
  expect(text(files?.get('index.html')?.br)).toBe('small page')
})

it('takes a folder with a slash at its end', async () => {
  await write('index.html', 'page')
  expect([...((await readConsoleFiles(`${folder.path}/`))?.keys() ?? [])]).toEqual(['index.html'])
})

it('answers null where nothing was built', async () => {
  expect(await readConsoleFiles(join(folder.path, 'none'))).toBeNull()
  expect(await readConsoleFiles(folder.path)).toBeNull()
})

it.skipIf(process.getuid?.() === 0)('does not hide that a file cannot be read', async () => {
  await write('index.html', 'page')
  await chmod(join(folder.path, 'index.html'), 0)
  await expect(readConsoleFiles(folder.path)).rejects.toThrow('EACCES')
})

it('logs that the database is away, and nothing more happens', async () => {
  const log: { level: string }[] = []
  const sql = (() => Promise.reject(new Error('connection refused'))) as never
  const end = keepStoring(sql, createLogger({ write: (line) => log.push(JSON.parse(line)) }), new Map())
  await end()
  expect(log).toMatchObject([{ level: expect.stringMatching(/warn/i), message: expect.stringContaining('console') }])
})
