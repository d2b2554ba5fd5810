import { readFile, writeFile } from 'node:fs/promises'
import { type OutputFiles, readTail } from './files.ts'

/** As the engine writes what it hides itself. */
const HIDDEN = '(sensitive value)'
const NAME = /SECRET|TOKEN|PASSW|CREDENTIAL|_KEY(_ID|_DATA)?$/i
/** Always literal, even when the value begins like a path: keys of AWS are base64. */
const LITERAL = /SECRET|TOKEN|PASSW/i
const NAMES_A_FILE = /_(FILE|PATH|DIR|DIRECTORY)$/i
const MIN_LENGTH = 8

/** Literal credentials in the service's environment, as they are and as quoted texts show them; longest first. */
export function credentialsOf(env: Record<string, string | undefined>): string[] {
  const values = Object.entries(env).flatMap(([name, value = '']) =>
    NAME.test(name) &&
    !NAMES_A_FILE.test(name) &&
    value.length >= MIN_LENGTH &&
    (LITERAL.test(name) || !value.startsWith('/'))
      ? [value]
      : [],
  )
  const forms = new Set(values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]))
  return [...forms].sort((a, b) => b.length - a.length)
}

/**
 * Replaces the credentials in an output file of the engine. Code can read its environment with `file()`,
 * and whatever a plan shows is stored and read by others.
 */
export async function hideCredentials(path: string, credentials: readonly string[]): Promise<void> {
  const bytes = await readFile(path)
  const exposed = credentials.filter((credential) => bytes.includes(credential))
  if (exposed.length === 0) return
  const text = exposed.reduce((shown, credential) => shown.replaceAll(credential, HIDDEN), bytes.toString('utf8'))
  await writeFile(path, text, { mode: 0o600 })
}

/**
 * The end of what a job has written so far, whole lines only, with the credentials of the environment
 * replaced: the files of a running job still hold them.
 * @param bytes at most this much of each stream
 */
export async function readLiveOutput(
  files: OutputFiles,
  credentials: readonly string[],
  bytes: number,
): Promise<{ stdout: string; stderr: string }> {
  // A credential that begins before the cut would be shown in part: more is read than is shown.
  const longest = Math.max(0, ...credentials.map((credential) => Buffer.byteLength(credential)))
  const tail = async (path: string) => {
    const text = await readTail(path, bytes + longest)
    const hidden = credentials.reduce((shown, credential) => shown.replaceAll(credential, HIDDEN), text)
    const isCut = Buffer.byteLength(text) >= bytes + longest
    const cut = Math.max(hidden.length - bytes, isCut ? longest : 0)
    const start =
      cut <= 0 || hidden[cut - 1] === '\n' ? Math.max(0, cut) : hidden.indexOf('\n', cut) + 1 || hidden.length
    const lines = hidden.slice(start)
    return lines.includes('\n') ? lines.slice(0, lines.lastIndexOf('\n') + 1) : ''
  }
  const [stdout, stderr] = await Promise.all([tail(files.stdout), tail(files.stderr)])
  return { stdout, stderr }
}
