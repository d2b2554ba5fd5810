import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** One place of a file that names another module. */
export interface Import {
  /** As written: `../plan/types.ts`, `node:fs`, `valibot`. */
  specifier: string
  /** Path from the root of the repository for a relative specifier; null for packages and `node:`. */
  target: string | null
  /** Counted from 1. */
  line: number
  /**
   * `value` when the module is loaded at run time. `import { type A } from` counts as `value` too: it leaves
   * `import {} from` behind when types are stripped, and that loads the module.
   */
  kind: 'value' | 'type'
}

export interface FunctionSize {
  name: string
  /** Counted from 1. */
  line: number
  /** From the first line of its head to its closing brace, inner functions included. */
  lines: number
}

export interface ParsedFile {
  /** From the root of the repository, with `/`. */
  path: string
  lines: number
  /** Lengths in UTF-16 code units, as editors count columns; `line` is counted from 1. */
  longLines: { line: number; columns: number }[]
  imports: Import[]
  functions: FunctionSize[]
}

export const MAX_COLUMNS = 120

export interface ParseRequest {
  root: string
  /** From `root`, with `/`. */
  paths: readonly string[]
  /** Those whose functions are measured: to walk through a whole file takes longer than to read its imports. */
  measured: readonly string[]
}

export type ParseReply = { files: ParsedFile[] } | { error: string }

const PARSER = fileURLToPath(new URL('./parser-process.ts', import.meta.url))

/**
 * Parses files in a process of its own: TypeScript's parser writes a line to the terminal when it is stopped, about one
 * time in ten, and nobody could tell what it means. It is shown only when the parser fails.
 */
export function parseFiles(request: ParseRequest): Promise<ParsedFile[]> {
  return new Promise((resolve, reject) => {
    const child = fork(PARSER, { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    let printed = ''
    child.stderr?.on('data', (chunk) => {
      printed += chunk
    })
    child.once('message', (reply: ParseReply) => {
      if ('files' in reply) resolve(reply.files)
      else reject(new Error(reply.error))
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`the parser ended without an answer: ${printed.trim()}`)))
    child.send(request)
  })
}
