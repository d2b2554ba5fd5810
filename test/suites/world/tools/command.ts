import { execFile } from 'node:child_process'
import { promisify, stripVTControlCharacters } from 'node:util'
import { Unavailable } from '../part.ts'

interface Options {
  cwd?: string
  env?: Record<string, string>
  minutes?: number
}

interface Failure {
  stdout?: string
  stderr?: string
  code?: number | string
  killed?: boolean
}

const LAST_CHARS = 600

/** Without colours and the frame that engines draw around their errors. */
const plain = (text: string) =>
  stripVTControlCharacters(text)
    .replaceAll(/[│╷╵\s]+/g, ' ')
    .trim()

/**
 * Output of a program.
 * @throws Unavailable with the end of what it said, when it is missing, fails or takes too long
 */
export async function output(
  program: string,
  args: string[],
  { cwd, env, minutes = 5 }: Options = {},
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      cwd,
      env: { ...process.env, ...env },
      // 0 would be no limit.
      timeout: Math.max(1, Math.round(minutes * 60_000)),
      maxBuffer: 256 * 1024 * 1024,
    })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '', code, killed } = error as Failure
    if (code === 'ENOENT') throw new Unavailable(`${program} is not installed`)
    const why = killed ? `took more than ${Math.round(minutes)} minutes` : `failed (${code})`
    // `go mod download -json` says what is wrong in its document.
    const last = plain(stderr || stdout).slice(-LAST_CHARS)
    throw new Unavailable(`${program} ${args[0] ?? ''} ${why}: ${last}`)
  }
}
