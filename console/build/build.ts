import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type BuildOptions, build, type Metafile } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const DIST = join(ROOT, 'dist')
const REACT = 'preact/compat'

/** One file of the built console. */
export interface BuiltFile {
  /** Below `/console/`, for example `assets/main-1A2B3C4D.js`. */
  path: string
  bytes: number
  gzip_bytes: number
}

export interface Built {
  files: BuiltFile[]
  /** Paths of the scripts that the first screen needs, without what is loaded later. */
  initial: string[]
  meta: Metafile
}

interface Options {
  /** Where to; default `console/dist`. */
  outdir?: string
  minify?: boolean
}

/**
 * Builds the console: one script for the beginning, one for each screen, one style sheet, all named by their content,
 * each beside its forms in brotli and gzip. The folder is replaced at once, so that nobody reads half of it.
 */
export async function buildConsole({ outdir = DIST, minify = true }: Options = {}): Promise<Built> {
  await mkdir(dirname(outdir), { recursive: true })
  const folder = await mkdtemp(join(dirname(outdir), '.console-'))
  try {
    const common = options(folder, minify)
    const [modules, script] = await Promise.all([
      build({ ...common, entryPoints: ENTRIES, splitting: true, format: 'esm' }),
      // It runs before the page is drawn, which a module cannot.
      build({ ...common, entryPoints: ['theme.ts'], format: 'iife' }),
    ])
    const metafile = {
      inputs: { ...script.metafile.inputs, ...modules.metafile.inputs },
      outputs: { ...modules.metafile.outputs, ...script.metafile.outputs },
    }
    const initial = await writePages(folder, metafile)
    const files = await compressAll(folder, metafile)
    await writeFile(join(folder, 'config.example.json'), `${JSON.stringify(EXAMPLE_CONFIG, null, 2)}\n`)
    await rm(outdir, { recursive: true, force: true })
    await rename(folder, outdir)
    return { files, initial, meta: metafile }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

const ENTRIES = [
  { in: 'main.tsx', out: 'main' },
  { in: 'silent.ts', out: 'silent' },
  { in: 'styles/main.css', out: 'styles' },
  { in: 'public/icon.svg', out: 'icon' },
  { in: 'workers/layout.ts', out: 'layout-worker' },
]

const options = (folder: string, minify: boolean) =>
  ({
    absWorkingDir: ROOT,
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    target: ['chrome125', 'firefox128', 'safari17.5'],
    minify,
    metafile: true,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    alias: { react: REACT, 'react-dom': REACT, 'react/jsx-runtime': 'preact/jsx-runtime' },
    define: { 'process.env.NODE_ENV': minify ? '"production"' : '"development"' },
    loader: { '.svg': 'copy' },
    logLevel: 'warning',
  }) satisfies BuildOptions & { metafile: true }

/** Writes the pages with the names of the built files in them, and answers the scripts that are loaded first. */
async function writePages(folder: string, { outputs }: Metafile): Promise<string[]> {
  const nameOf = (output: string) => `assets/${basename(output)}`
  const built = (source: string) => {
    const found = Object.entries(outputs).find(
      ([path, { entryPoint }]) => entryPoint === source && !path.endsWith('.map'),
    )
    if (!found) throw new Error(`${source} was not built`)
    return found
  }
  const [main] = built('main.tsx')
  const first = withImports(main, outputs)
  const initial = first.map(nameOf)
  const addressOf = (output: string) => `/console/${nameOf(output)}`
  const icon = Object.keys(outputs).find((path) => path.endsWith('.svg')) ?? ''
  const values: Record<string, string> = {
    main: addressOf(main),
    theme: addressOf(built('theme.ts')[0]),
    silent: addressOf(built('silent.ts')[0]),
    styles: addressOf(built('styles/main.css')[0]),
    icon: addressOf(icon),
    // Nothing tells a script the address of a worker that is built beside it.
    layout_worker: addressOf(built('workers/layout.ts')[0]),
    screens: JSON.stringify(screenScripts(outputs, first, addressOf)),
  }
  for (const page of ['index.html', 'silent.html']) {
    const template = await readFile(join(ROOT, page), 'utf8')
    const preloads = initial.slice(1).map((path) => `<link rel="modulepreload" href="/console/${path}">`)
    const text = template
      .replace('<!-- preloads -->', preloads.join('\n'))
      .replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '')
    await writeFile(join(folder, page), text)
  }
  return initial
}

/** A script with everything that is loaded together with it, itself first. */
function withImports(script: string, outputs: Metafile['outputs']): string[] {
  const found = new Set([script])
  for (const path of found)
    for (const { kind, path: imported } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement') found.add(imported)
  return [...found]
}

/** By name of each screen: the scripts that it needs beyond those of every page. */
const screenScripts = (outputs: Metafile['outputs'], first: string[], addressOf: (output: string) => string) =>
  Object.fromEntries(
    Object.entries(outputs).flatMap(([path, { entryPoint = '' }]) =>
      entryPoint.startsWith('screens/')
        ? [
            [
              parse(entryPoint).name,
              withImports(path, outputs)
                .filter((script) => !first.includes(script))
                .map(addressOf),
            ],
          ]
        : [],
    ),
  )

/** For a console that does not stand beside its core: to be renamed to `config.json`, with the address of the API. */
const EXAMPLE_CONFIG = { api_url: 'https://platform.example.com/api/v1', examples: [] }

async function compressAll(folder: string, { outputs }: Metafile): Promise<BuiltFile[]> {
  const paths = [...Object.keys(outputs).map((path) => `assets/${basename(path)}`), 'index.html', 'silent.html']
  return Promise.all(paths.map((path) => compress(folder, path)))
}

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

async function compress(folder: string, path: string): Promise<BuiltFile> {
  const file = join(folder, path)
  const body = await readFile(file)
  const [br, gz] = await Promise.all([
    toBrotli(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
    toGzip(body, { level: 9 }),
  ])
  await Promise.all([writeFile(`${file}.br`, br), writeFile(`${file}.gz`, gz)])
  return { path, bytes: body.length, gzip_bytes: gz.length }
}
