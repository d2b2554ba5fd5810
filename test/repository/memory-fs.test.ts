import { describe, expect, it } from 'vitest'
import { createMemoryFs } from '../../src/repository/memory-fs.ts'

const bytes = (size: number) => new Uint8Array(size)
const failing = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error) => error.code ?? error.message,
  )

describe('the file system in memory', () => {
  it('keeps files in directories', async () => {
    const { promises: fs } = createMemoryFs(1_000)
    await fs.mkdir('/a')
    await fs.mkdir('/a/b/')
    await fs.writeFile('/a/b/c', 'text')
    await fs.writeFile('/a//x/../d', bytes(3))
    expect(await fs.readFile('/a/b/c', 'utf8')).toBe('text')
    expect(await fs.readFile('/a/./d')).toEqual(bytes(3))
    expect((await fs.readdir('/a')).sort()).toEqual(['b', 'd'])
    expect(await fs.readdir('/')).toEqual(['a'])
    expect((await fs.stat('/a')).isDirectory()).toBe(true)
    expect((await fs.lstat('/a/d')).size).toBe(3)
  })

  it('fails with the codes of a real one', async () => {
    const { promises: fs } = createMemoryFs(1_000)
    await fs.mkdir('/a')
    await fs.writeFile('/a/f', 'x')
    expect(await failing(fs.readFile('/none'))).toBe('ENOENT')
    expect(await failing(fs.readFile('/a'))).toBe('EISDIR')
    expect(await failing(fs.writeFile('/none/f', 'x'))).toBe('ENOENT')
    expect(await failing(fs.writeFile('/a/f/g', 'x'))).toBe('ENOENT')
    expect(await failing(fs.writeFile('/a', 'x'))).toBe('EISDIR')
    expect(await failing(fs.mkdir('/a'))).toBe('EEXIST')
    expect(await failing(fs.mkdir('/x/y'))).toBe('ENOENT')
    expect(await failing(fs.readdir('/a/f'))).toBe('ENOTDIR')
    expect(await failing(fs.rmdir('/a'))).toBe('ENOTEMPTY')
    expect(await failing(fs.stat('/none'))).toBe('ENOENT')
    await fs.unlink('/a/f')
    await fs.rmdir('/a')
    expect(await failing(fs.stat('/a'))).toBe('ENOENT')
  })

  it('holds no more than its bound, counting what is there', async () => {
    const { promises: fs } = createMemoryFs(100)
    await fs.writeFile('/a', bytes(60))
    await fs.writeFile('/a', bytes(90))
    expect(await failing(fs.writeFile('/b', bytes(11)))).toContain('larger than 100 bytes')
    await fs.unlink('/a')
    await fs.writeFile('/b', bytes(11))
  })
})
