import module from 'node:module'
import { join } from 'node:path'
import v8 from 'node:v8'

const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/compile')

/**
 * Settings of Node for a long-lived server; nothing on other runtimes.
 * - Compiled modules and stripped types are kept on disk: half the start time, 25 MB less memory. Only
 *   modules imported afterwards profit; a folder that cannot be written is no error.
 * - The young generation stays small: opening thousands of streams would grow it by tens of
 *   megabytes that are never given back.
 */
export function tuneNode(): void {
  if (!isNode()) return
  module.enableCompileCache(FOLDER)
  v8.setFlagsFromString('--semi-space-growth-factor=1')
}

/** Writes what was compiled so far, for processes that start before this one ends. */
export function saveCompileCache(): void {
  if (isNode()) module.flushCompileCache()
}

const isNode = () => !('Deno' in globalThis) && !('Bun' in globalThis) && 'enableCompileCache' in module
