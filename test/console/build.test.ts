import { readdir, readFile } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { screensAt } from '../../console/ahead.ts'
import { type Built, buildConsole } from '../../console/build/build.ts'
import { isHashedPath } from '../../src/data/console-files.ts'
import { readConsoleFiles } from '../../src/runtime/console-files.ts'
import { temporaryFolder } from '../helpers/folder.ts'

const KILOBYTE = 1_000
const FIRST_SCRIPTS = 65 * KILOBYTE
const STYLES = 12 * KILOBYTE
const LATER_PART = 90 * KILOBYTE
/** Packages that the first screen must not wait for. */
const LATER_PACKAGES = [
  'oidc-client-ts',
  '@xyflow',
  'react-markdown',
  '@dagrejs',
  'micromark',
  'highlight.js',
  'lowlight',
]

const dist = join(temporaryFolder(), 'dist')
let built: Built
beforeAll(async () => {
  built = await buildConsole({ outdir: dist })
})

const sizeOf = (paths: string[]) =>
  built.files.filter(({ path }) => paths.includes(path)).reduce((sum, { gzip_bytes }) => sum + gzip_bytes, 0)
const read = (path: string) => readFile(join(dist, path), 'utf8')
/** Lists the packages whose code is in a script. */
const packagesIn = (path: string): string[] =>
  (built.modules[path] ?? []).flatMap((id) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.slice(1) ?? [])

describe('the budget of the build, gzipped', () => {
  it('first scripts: 65 kB, with the one that sets the theme', () => {
    const theme = built.files.flatMap(({ path }) => (path.startsWith('assets/theme-') ? [path] : []))
    expect(theme).toHaveLength(1)
    expect(built.initial.length).toBeGreaterThan(0)
    expect(sizeOf([...built.initial, ...theme])).toBeLessThanOrEqual(FIRST_SCRIPTS)
  })

  it('styles: 12 kB', () => {
    const styles = built.files.flatMap(({ path }) => (path.endsWith('.css') ? [path] : []))
    expect(styles.length).toBeGreaterThan(0)
    expect(sizeOf(styles)).toBeLessThanOrEqual(STYLES)
  })

  it('every later part: 90 kB', () => {
    const later = built.files.filter(({ path }) => path.endsWith('.js') && !built.initial.includes(path))
    expect(later.length).toBeGreaterThan(10)
    expect(later.filter(({ gzip_bytes }) => gzip_bytes > LATER_PART)).toEqual([])
  })

  it('what not every visit needs is no part of the first scripts', () => {
    const first = built.initial.flatMap(packagesIn)
    expect(first).toContain('preact')
    expect(first.filter((name) => LATER_PACKAGES.some((later) => name.startsWith(later)))).toEqual([])
    const all = built.files.flatMap(({ path }) => packagesIn(path))
    expect(all).toContain('oidc-client-ts')
  })
})

describe('the pages of the build', () => {
  it.each(['index.html', 'silent.html'])('%s names built files only, and no script stands in it', async (page) => {
    const html = await read(page)
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address)
    expect(addresses.length).toBeGreaterThan(0)
    for (const address of addresses) {
      if (address === '/console/config.json') continue
      const path = address.replace('/console/', '')
      expect(isHashedPath(path)).toBe(true)
      await expect(read(path)).resolves.not.toBe('')
    }
    expect(html).not.toContain('{{')
    for (const [, attributes = '', text] of html.matchAll(/<script([^>]*)>([^<]*)<\/script>/g))
      expect([text, attributes]).toEqual(['', expect.stringContaining('src=')])
    expect(html).not.toMatch(/\son\w+=|\sstyle=|<style|javascript:/i)
  })

  it('ask for every first script at once', async () => {
    const html = await read('index.html')
    for (const path of built.initial) expect(html).toContain(`/console/${path}`)
  })

  it('know the scripts of every screen by its address, so that they are asked for at once', async () => {
    const html = await read('index.html')
    const scripts = JSON.parse(/data-screens='([^']*)'/.exec(html)?.[1] ?? '') as Record<string, string[]>
    const table = await readFile(new URL('../../console/routes.tsx', import.meta.url), 'utf8')
    const rows = [...table.matchAll(/(screen|part)\('([^']*)', \(\) => import\('\.\/screens\/([^']*)'/g)]
    expect(rows.length).toBeGreaterThan(10)
    for (const [, kind, path, module = ''] of rows) {
      const names = screensAt(`/console${kind === 'part' ? '/sessions/0' : ''}${path}`)
      expect(names).toEqual(kind === 'part' ? ['session', parse(module).name] : [parse(module).name])
      for (const name of names) expect(scripts[name]?.[0]).toMatch(new RegExp(`^/console/assets/${name}-`))
    }
    for (const address of new Set(Object.values(scripts).flat()))
      expect(isHashedPath(address.replace('/console/', ''))).toBe(true)
  })

  it('and the styles name no other host', async () => {
    const styles = built.files.find(({ path }) => path.endsWith('.css'))?.path ?? ''
    for (const path of ['index.html', 'silent.html', styles])
      expect((await read(path)).match(/(?:https?:)?\/\/[\w.-]+\.\w+/g) ?? []).toEqual([])
  })
})

describe('the folder of the build', () => {
  it('has names that are made of the content, forms in brotli and gzip, and no maps', async () => {
    const assets = await readdir(join(dist, 'assets'))
    for (const name of assets) expect(isHashedPath(`assets/${name.replace(/\.(?:br|gz)$/, '')}`)).toBe(true)
    for (const { path } of built.files) for (const suffix of ['.br', '.gz']) await read(path + suffix)
  })

  it('is what the core serves, file by file', async () => {
    const files = await readConsoleFiles(dist)
    expect([...(files?.keys() ?? [])].sort()).toEqual(built.files.map(({ path }) => path).sort())
  })

  it('has a sample of the configuration for a host of its own', async () => {
    expect(JSON.parse(await read('config.example.json'))).toEqual({
      api_url: 'https://platform.example.com/api/v1',
      examples: [],
    })
  })
})
