import { spawn } from 'node:child_process'
import { systemCode } from '../../../config/document.ts'
import { parseJson } from '../../../src/base/json.ts'
import { signalGroup } from '../../../src/runtime/process-identity.ts'

interface ProgramLimits {
  /** The whole environment of the program. */
  env: Readonly<Record<string, string | undefined>>
  signal: AbortSignal
  /** Time limit in milliseconds, after which the program is killed. */
  timeoutMs: number
  /** Limit of the standard output, in bytes. */
  maxBytes: number
}

/** The reason why a program gave no output. The message holds nothing of the command and its output. */
class ProgramFault extends Error {
  override readonly name = 'ProgramFault'
  readonly isMissing: boolean
  constructor(message: string, isMissing = false) {
    super(message)
    this.isMissing = isMissing
  }
}

/**
 * Runs a program, or a text in the shell, in its own process group, which is killed at the limits or by the signal. Its
 * error output, which may hold credentials, is dropped. Errors: `ProgramFault`, whose message continues a sentence; the
 * reason of the signal.
 */
function runProgram(command: readonly string[] | string, limits: ProgramLimits): Promise<string> {
  const { signal, timeoutMs, maxBytes } = limits
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const child = start(command, limits.env)
    const chunks: Buffer[] = []
    let bytes = 0
    const settle = (finish: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      finish()
    }
    const stop = (reason: unknown) => {
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
      // A process that has left the group may still hold the pipe.
      child.stdout.destroy()
      settle(() => reject(reason))
    }
    const abort = () => stop(signal.reason)
    const timer = setTimeout(() => stop(new ProgramFault(`gave no answer within ${timeoutMs / 1000} s`)), timeoutMs)
    signal.addEventListener('abort', abort, { once: true })
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) stop(new ProgramFault(`printed more than ${maxBytes / 1024} KiB`))
      else chunks.push(chunk)
    })
    child.once('error', (error) => settle(() => reject(startFault(error))))
    child.once('close', (code) =>
      settle(() => {
        if (code === 0) return resolve(Buffer.concat(chunks).toString('utf8'))
        reject(new ProgramFault(`failed${code === null ? '' : ` with exit code ${code}`}`))
      }),
    )
  })
}

/** Runs a program and parses what it prints; null for what is no JSON. Errors: that of `explain`; the signal's reason. */
export async function runForJson(
  command: readonly string[] | string,
  limits: ProgramLimits,
  explain: (fault: ProgramFault) => Error,
): Promise<unknown> {
  const output = await runProgram(command, limits).catch((error: unknown) => {
    throw error instanceof ProgramFault ? explain(error) : error
  })
  return parseJson(output) ?? null
}

function start(command: readonly string[] | string, env: ProgramLimits['env']) {
  const [program = '', ...args] = [command].flat()
  const shell = typeof command === 'string'
  try {
    return spawn(program, args, { env, shell, detached: true, stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true })
  } catch (error) {
    throw startFault(error)
  }
}

function startFault(error: unknown): ProgramFault {
  const code = systemCode(error)
  if (code === ' (ENOENT)') return new ProgramFault('was not found', true)
  return new ProgramFault(`could not be started${code.startsWith(' (E') ? code : ''}`)
}
