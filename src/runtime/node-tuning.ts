import module from 'node:module'
import { join } from 'node:path'
import v8 from 'node:v8'

const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/compile')

/**
 * Changes settings of Node for a server; does nothing on other runtimes.
 * - Compiled modules are kept on disk, which halves the time of a start and saves 25 MB of memory. Only modules that
 *   are imported afterwards benefit. A folder that cannot be written is no error.
 * - The memory for young objects stays small. Thousands of open streams would let it grow by tens of megabytes, which
 *   Node never gives back.
 */
export function tuneNode(): void {
  if (!isNode()) return
  module.enableCompileCache(FOLDER)
  v8.setFlagsFromString('--semi-space-growth-factor=1')
}

/** Writes what was compiled so far, so that processes which start while this one runs benefit as well. */
export function saveCompileCache(): void {
  if (isNode()) module.flushCompileCache()
}

const isNode = () => !('Deno' in globalThis) && !('Bun' in globalThis) && 'enableCompileCache' in module
