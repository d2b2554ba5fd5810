import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSeeds, type SeedPrompt } from '../prompts/parse-seed.ts'

const SHIPPED = fileURLToPath(new URL('../prompts/seed/', import.meta.url))

/**
 * All `*.yaml` files below a folder, sorted by path, as prompts by qualified name.
 * Errors: `SeedError` naming every unusable file.
 */
export async function readSeedPrompts(folder: string = SHIPPED): Promise<Map<string, SeedPrompt>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
  return parseSeeds(
    await Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(folder, path), 'utf8') }))),
  )
}
