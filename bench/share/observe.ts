import childProcess, { type ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import { basename, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded into the worker with `--import`, writes what the worker waits for: processes, requests and statements with
 * their beginning and end, one JSON line each. The worker's own code is left as it is.
 */

/** Something that the worker waited for, in milliseconds since 1970. */
export interface Waited {
  kind: 'process' | 'request' | 'statement'
  /** The program with its first argument that is no option; method and address; the beginning of the statement. */
  name: string
  from: number
  to: number
}

/** Names the folder of the file; the worker alone is observed. */
export const OBSERVED_FOLDER = 'BENCH_OBSERVED_FOLDER'
export const observedFile = (folder: string): string => join(folder, 'observed.jsonl')

const FLUSH_MS = 100
const MAX_NAME = 80

const now = (): number => performance.timeOrigin + performance.now()

const folder = process.env[OBSERVED_FOLDER]
if (folder && isMainThread && process.argv[1]?.endsWith('pipeline/main.ts')) observe(observedFile(folder))

function observe(file: string): void {
  let lines = ''
  const flush = () => {
    if (lines !== '') appendFileSync(file, lines)
    lines = ''
  }
  const begin = (kind: Waited['kind'], name: string) => {
    const from = now()
    return () => {
      lines += `${JSON.stringify({ kind, name: name.slice(0, MAX_NAME), from, to: now() } satisfies Waited)}\n`
    }
  }
  setInterval(flush, FLUSH_MS).unref()
  process.on('exit', flush)
  observeProcesses(begin)
  observeRequests(begin)
  observeStatements(begin)
}

type Begin = (kind: Waited['kind'], name: string) => () => void

function observeProcesses(begin: Begin): void {
  const { spawn } = childProcess
  const observed = (file: string, args: readonly string[], ...rest: unknown[]): ChildProcess => {
    const end = begin('process', `${basename(file)} ${commandOf(args)}`)
    const child: ChildProcess = Reflect.apply(spawn, childProcess, [file, args, ...rest])
    child.once('close', end)
    child.once('error', end)
    return child
  }
  Object.assign(childProcess, { spawn: observed })
  syncBuiltinESMExports()
}

/** Returns the first argument that is neither an option nor the value of `-c`. */
const commandOf = (args: readonly string[]): string =>
  args.find((one, index) => !one.startsWith('-') && args[index - 1] !== '-c') ?? ''

function observeRequests(begin: Begin): void {
  const open = new WeakMap<object, () => void>()
  const on = (event: string, take: (request: { origin: string; method: string; path: string }) => void) =>
    subscribe(`undici:request:${event}`, (message) => take((message as { request: never }).request))
  const end = (request: object) => open.get(request)?.()
  on('create', (request) => {
    open.set(request, begin('request', `${request.method} ${request.origin}${request.path.replace(/\?.*/, '')}`))
  })
  on('trailers', end)
  on('error', end)
}

/** The first byte of what is sent to PostgreSQL: a statement to parse, one that is known, a simple one. */
const [PARSE, BIND, QUERY] = [0x50, 0x42, 0x51]

function observeStatements(begin: Begin): void {
  const { write } = Socket.prototype
  const known = new WeakMap<Socket, Map<string, string>>()
  const waiting = new WeakMap<Socket, () => void>()
  Object.assign(Socket.prototype, {
    write(this: Socket, chunk: unknown, ...rest: unknown[]) {
      const statements = known.get(this) ?? new Map<string, string>()
      const text = Buffer.isBuffer(chunk) ? readStatement(chunk, statements) : null
      if (text !== null) {
        if (!known.has(this)) {
          known.set(this, statements)
          this.prependListener('data', () => {
            waiting.get(this)?.()
            waiting.delete(this)
          })
        }
        waiting.get(this)?.()
        waiting.set(this, begin('statement', text))
      }
      return Reflect.apply(write, this, [chunk, ...rest])
    },
  })
}

/** Returns the beginning of the statement that a message sends; null for another message, and for another protocol. */
function readStatement(message: Buffer, known: Map<string, string>): string | null {
  const [kind] = message
  const length = message.length > 5 ? message.readUInt32BE(1) : 0
  if (length < 4 || length >= message.length) return null
  const texts = message.toString('utf8', 5, length + 1).split('\0')
  const short = (text = '') => text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_NAME)
  if (kind === QUERY) return short(texts[0])
  if (kind === PARSE) {
    known.set(texts[0] ?? '', short(texts[1]))
    return short(texts[1])
  }
  return kind === BIND ? (known.get(texts[1] ?? '') ?? 'a statement') : null
}
