import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, parse, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const DIST = join(ROOT, 'dist')
/** The oldest browsers that the console supports. */
const TARGETS = ['chrome125', 'firefox128', 'safari17.5']

export type Built = Awaited<ReturnType<typeof buildConsole>>

interface Options {
  /** The output folder; default `console/dist`. */
  outdir?: string
  minify?: boolean
}

/**
 * Builds the console: one script for the start, one for each screen, one style sheet, all named by their content, each
 * beside its forms in brotli and gzip. The output folder is replaced at once, so that nobody reads half of it.
 */
export async function buildConsole({ outdir = DIST, minify = true }: Options = {}) {
  await mkdir(dirname(outdir), { recursive: true })
  const folder = await mkdtemp(join(dirname(outdir), '.console-'))
  try {
    const common = options(folder, minify)
    const [scripts, alone, page] = await Promise.all([
      buildScripts(minify),
      build({ ...common, entryPoints: ALONE, format: 'esm' }),
      // This is a classic script, because a module cannot run before the page is drawn.
      build({ ...common, entryPoints: ['theme.ts'], format: 'iife' }),
    ])
    await Promise.all(scripts.map(({ name, text }) => writeFile(join(folder, 'assets', name), text)))
    const single = { ...alone.metafile.outputs, ...page.metafile.outputs }
    const initial = await writePages(folder, scripts, single)
    const names = [...scripts.map(({ name }) => name), ...Object.keys(single).map((path) => basename(path))]
    const paths = [...names.map((name) => `assets/${name}`), 'index.html', 'silent.html']
    const files = await Promise.all(paths.map((path) => compress(folder, path)))
    await writeFile(join(folder, 'config.example.json'), `${JSON.stringify(EXAMPLE_CONFIG, null, 2)}\n`)
    await rm(outdir, { recursive: true, force: true })
    await rename(folder, outdir)
    const modules = Object.fromEntries(scripts.map((script) => [`assets/${script.name}`, script.modules]))
    return {
      files,
      /** The paths of the scripts that the first screen needs, without what is loaded later. */
      initial,
      /** The modules in each script of the application, by the path of the script. */
      modules,
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

/** Entry points besides the application. */
const ALONE = [
  { in: 'silent.ts', out: 'silent' },
  { in: 'styles/main.css', out: 'styles' },
  { in: 'public/icon.svg', out: 'icon' },
  { in: 'screens/graph/drawing/layout-worker.ts', out: 'layout-worker' },
]

const options = (folder: string, minify: boolean) =>
  ({
    absWorkingDir: ROOT,
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    bundle: true,
    target: TARGETS,
    minify,
    metafile: true,
    legalComments: 'none',
    loader: { '.svg': 'copy' },
    logLevel: 'warning',
  }) satisfies BuildOptions & { metafile: true }

/** Writes the pages with the names of the built files in them. Returns the scripts that are loaded first. */
async function writePages(folder: string, scripts: Script[], single: Metafile['outputs']): Promise<string[]> {
  const addressOf = (name: string) => `/console/assets/${basename(name)}`
  const built = (source: string) => {
    const found = Object.entries(single).find(([, { entryPoint }]) => entryPoint === source)
    if (!found) throw new Error(`${source} was not built`)
    return addressOf(found[0])
  }
  const main = scripts.find(({ module }) => module && relative(ROOT, module) === 'main.tsx')
  if (!main) throw new Error('main.tsx was not built')
  const first = withImports(main, scripts)
  const values: Record<string, string> = {
    main: addressOf(main.name),
    theme: built('theme.ts'),
    silent: built('silent.ts'),
    styles: built('styles/main.css'),
    icon: addressOf(Object.keys(single).find((path) => path.endsWith('.svg')) ?? ''),
    // A script has no other way to learn the address of a worker that is built beside it.
    layout_worker: built('screens/graph/drawing/layout-worker.ts'),
    screens: JSON.stringify(screenScripts(scripts, first, addressOf)),
  }
  const preloads = first.slice(1).map(({ name }) => `<link rel="modulepreload" href="${addressOf(name)}">`)
  for (const page of ['index.html', 'silent.html']) {
    const template = await readFile(join(ROOT, page), 'utf8')
    const text = template
      .replace('<!-- preloads -->', preloads.join('\n'))
      .replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '')
    await writeFile(join(folder, page), text)
  }
  return first.map(({ name }) => `assets/${name}`)
}

/** Returns the scripts that each screen needs beyond those of every page, by the name of the screen. */
const screenScripts = (scripts: Script[], first: Script[], addressOf: (name: string) => string) =>
  Object.fromEntries(
    scripts.flatMap((script) => {
      if (!script.module || !relative(ROOT, script.module).startsWith('screens/')) return []
      const own = withImports(script, scripts).filter((each) => !first.includes(each))
      return [[parse(script.module).name, own.map(({ name }) => addressOf(name))]]
    }),
  )

/** The template of `config.json`, with the address of the API, for a console that is not served by its core. */
const EXAMPLE_CONFIG = { api_url: 'https://platform.example.com/api/v1', examples: [] }

/** @param path below `/console/`, for example `assets/main-1A2B3C4D.js` */
async function compress(folder: string, path: string) {
  const file = join(folder, path)
  const body = await readFile(file)
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
    promisify(gzip)(body, { level: 9 }),
  ])
  await Promise.all([writeFile(`${file}.br`, br), writeFile(`${file}.gz`, gz)])
  return { path, bytes: body.length, gzip_bytes: gz.length }
}

/** A script of the build and its imports. */
interface Script {
  /** The file name, for example `main-1a2b3c4d.js`. */
  name: string
  text: string
  /** The module that the script was built for; null for code that several screens share. */
  module: string | null
  /** The names of the scripts that are loaded before it runs. */
  imports: string[]
  /** The paths of the modules whose code is in the script. */
  modules: string[]
}

const REACT = 'preact/compat'
/** The size of files of shared code before minification. On a slow network each file costs more than some kilobytes. */
const SHARED_BYTES = 30_000

/** Builds the scripts of the application: one for the start, one for each screen, and a few that they share. */
async function buildScripts(minify: boolean): Promise<Script[]> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: 'main.tsx',
    platform: 'browser',
    tsconfig: false,
    preserveEntrySignatures: false,
    moduleTypes: { '.css': 'text' },
    resolve: { alias: { react: REACT, 'react-dom': REACT, 'react/jsx-runtime': 'preact/jsx-runtime' } },
    transform: {
      target: TARGETS,
      jsx: { runtime: 'automatic', importSource: 'preact' },
      define: { 'process.env.NODE_ENV': minify ? '"production"' : '"development"' },
    },
    // "use client" has no meaning in a browser.
    checks: { moduleLevelDirective: false },
  })
  try {
    const { output } = await bundle.generate({
      format: 'es',
      minify,
      comments: false,
      hashCharacters: 'base36',
      entryFileNames: '[name]-[hash].js',
      chunkFileNames: ({ isDynamicEntry }) => (isDynamicEntry ? '[name]-[hash].js' : 'shared-[hash].js'),
      codeSplitting: {
        groups: [
          { name: 'main', tags: ['$initial'], priority: 2 },
          {
            name: 'shared',
            minShareCount: 2,
            entriesAware: true,
            entriesAwareMergeThreshold: SHARED_BYTES,
            priority: 1,
          },
        ],
      },
    })
    return output
      .filter((chunk) => chunk.type === 'chunk')
      .map(({ fileName: name, code: text, facadeModuleId: module, imports, modules }) => ({
        name,
        text,
        module,
        imports,
        modules: Object.keys(modules).filter((id) => modules[id]?.renderedLength),
      }))
  } finally {
    await bundle.close()
  }
}

/** Returns a script and everything that is loaded together with it, itself first. */
function withImports(script: Script, scripts: readonly Script[]): Script[] {
  const found = new Set([script])
  for (const { imports } of found) {
    for (const name of imports) {
      const imported = scripts.find((each) => each.name === name)
      if (imported) found.add(imported)
    }
  }
  return [...found]
}
