import { cp, glob, mkdir, readFile, stat } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { nodeFileTrace } from '@vercel/nft'
import { TARGETS, type Target } from './targets.ts'

const HELP = `Usage: node dev/image/assemble.ts <root> <out>

Copies what each image needs from the checkout <root>, whose node_modules are those of production: the files that its
entries import, directly or not, and those that they read by path. They go to <out>/<target>/node_modules and
<out>/<target>/app, which become layers of their own.`

/** Packages that a dependency tries to load and goes on without. */
const OPTIONAL = ['@node-rs/xxhash', 'supports-color']

const readSource = async (path: string): Promise<string | Buffer | null> => {
  try {
    const content = await readFile(path)
    return path.endsWith('.ts') ? stripTypeScriptTypes(content.toString(), { mode: 'strip' }) : content
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR')) return null
    throw error
  }
}

/**
 * Lists the files that a target needs, from the root and in order. Errors: an import that leads nowhere, an asset that
 * is not there.
 */
export async function filesOf({ entries, assets, without = [], conditions }: Target, root: string): Promise<string[]> {
  const { fileList, warnings } = await nodeFileTrace(
    entries.map((entry) => join(root, entry)),
    {
      base: root,
      conditions: [...conditions],
      moduleSyncCatchall: true,
      ignore: without.map((folder) => `${folder}/**`),
      // Guesses at paths in code would bring whole folders along; what is read by path is an asset.
      analysis: { emitGlobs: false, computeFileReferences: false, evaluatePureExpressions: false },
      readFile: readSource,
    },
  )
  const lost = [...warnings]
    .map(({ message }) => message)
    .filter((text) => text.startsWith('Failed to resolve') && !OPTIONAL.some((name) => text.includes(`"${name}"`)))
  if (lost.length > 0) throw new Error(lost.join('\n'))
  const files = new Set(fileList)
  for (const asset of assets) for (const file of await filesBelow(asset, root)) files.add(file)
  for (const folder of new Set([...files].flatMap(packageOf)))
    for await (const file of glob([`${folder}/package.json`, `${folder}/{LICEN[CS]E,NOTICE,COPYING}*`], { cwd: root }))
      files.add(file)
  return [...files].sort()
}

/** Returns the folder of the package that a file belongs to; none for the project's own. */
const packageOf = (file: string): string[] => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.slice(0, 1) ?? []

async function filesBelow(asset: string, root: string): Promise<string[]> {
  const found: string[] = []
  for await (const path of glob([asset, `${asset}/**`], { cwd: root }))
    if ((await stat(join(root, path))).isFile()) found.push(path)
  if (found.length === 0) throw new Error(`there is no ${asset}`)
  return found
}

async function run(root: string, out: string): Promise<void> {
  for (const [name, target] of Object.entries(TARGETS)) {
    const files = await filesOf(target, root)
    let bytes = 0
    for (const file of files) {
      const isPackage = file.startsWith('node_modules/')
      const copy = join(out, name, isPackage ? file : join('app', file))
      await mkdir(dirname(copy), { recursive: true })
      await cp(join(root, file), copy, { dereference: true })
      if (isPackage) bytes += (await stat(copy)).size
    }
    console.log(`${name}: ${files.length} files, of node_modules ${(bytes / 1e6).toFixed(1)} MB`)
  }
}

if (import.meta.main) {
  const [root, out] = process.argv.slice(2)
  if (root === undefined || out === undefined) {
    console.log(HELP)
    process.exitCode = 2
  } else await run(root, out)
}
