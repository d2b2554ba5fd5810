import { rolldown } from 'rolldown'

/** A script of the build and its imports. */
export interface Script {
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
const TARGETS = ['chrome125', 'firefox128', 'safari17.5']
/** The size of files of shared code before minification. On a slow network each file costs more than some kilobytes. */
const SHARED_BYTES = 30_000

/** Builds the scripts of the application in `root`: one for the start, one for each screen, and a few that they share. */
export async function buildScripts(root: string, minify: boolean): Promise<Script[]> {
  const bundle = await rolldown({
    cwd: root,
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
export function withImports(script: Script, scripts: readonly Script[]): Script[] {
  const found = new Set([script])
  for (const { imports } of found) {
    for (const name of imports) {
      const imported = scripts.find((each) => each.name === name)
      if (imported) found.add(imported)
    }
  }
  return [...found]
}
