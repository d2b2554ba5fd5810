import { spawn } from 'node:child_process'
import { signalGroup } from './process-identity.ts'

export interface ProcessRequest {
  file: string
  args: readonly string[]
  /** True for a file that is a text for the shell. */
  shell?: boolean
  cwd?: string
  /** The whole environment of the program. */
  env: Readonly<Record<string, string | undefined>>
  timeoutMs: number
  /** Maximum bytes of stdout; the process is stopped when it writes more. */
  maxOutput?: number
  /** Receives stdout in chunks, which is then not collected. The process is stopped when it returns false. */
  consume?: (chunk: Buffer) => boolean
  /** Text or bytes for stdin, which is empty by default. */
  input?: string | Uint8Array
  signal?: AbortSignal
}

export interface ProcessOutput {
  /** Exit code; null when a signal ended the process. */
  code: number | null
  stdout: string
  stderr: string
  /** The reason why the process was stopped early; null when it was not. */
  stopped: 'timeout' | 'aborted' | 'output' | null
}

const MAX_OUTPUT = 32 * 1024 * 1024
const MAX_STDERR = 64 * 1024

/** Runs a program in its own process group. Throws only when it cannot be started. */
export async function runProcess(request: ProcessRequest): Promise<ProcessOutput> {
  const { promise, resolve, reject } = Promise.withResolvers<ProcessOutput>()
  const { file, args, shell, cwd, env } = request
  const child = spawn(file, args, { shell, cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  let stopped: ProcessOutput['stopped'] = null
  const stop = (why: NonNullable<ProcessOutput['stopped']>) => {
    stopped ??= why
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
    // A process that has left the group may still hold the pipes.
    child.stdout.destroy()
    child.stderr.destroy()
  }
  const timer = setTimeout(() => stop('timeout'), request.timeoutMs)
  const abort = () => stop('aborted')
  request.signal?.addEventListener('abort', abort, { once: true })
  if (request.signal?.aborted) abort()
  const stdout = request.consume
    ? passOn(child.stdout, request.consume, () => stop('output'))
    : collect(child.stdout, request.maxOutput ?? MAX_OUTPUT, () => stop('output'))
  const stderr = collect(child.stderr, MAX_STDERR, () => {})
  // Writing fails when a program ends without reading its input, which is no error.
  child.stdin.on('error', () => {})
  child.stdin.end(request.input ?? '')
  const finish = () => {
    clearTimeout(timer)
    request.signal?.removeEventListener('abort', abort)
  }
  child.once('error', (error) => {
    finish()
    reject(error)
  })
  child.once('close', (code) => {
    finish()
    resolve({ code, stdout: stdout(), stderr: stderr(), stopped })
  })
  return promise
}

function passOn(
  stream: NodeJS.ReadableStream,
  consume: (chunk: Buffer) => boolean,
  onEnough: () => void,
): () => string {
  let goesOn = true
  stream.on('data', (chunk: Buffer) => {
    goesOn = goesOn && consume(chunk)
    if (!goesOn) onEnough()
  })
  return () => ''
}

function collect(stream: NodeJS.ReadableStream, limit: number, onFull: () => void): () => string {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    if (size < limit) chunks.push(chunk.subarray(0, limit - size))
    size += chunk.byteLength
    if (size > limit) onFull()
  })
  return () => Buffer.concat(chunks).toString('utf8')
}
