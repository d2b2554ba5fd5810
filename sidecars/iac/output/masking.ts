import { readFile, writeFile } from 'node:fs/promises'
import { type OutputFiles, readTail } from './files.ts'

/** The engine writes the same words where it hides a value itself. */
const HIDDEN = '(sensitive value)'
const NAME = /SECRET|TOKEN|PASSW|CREDENTIAL|_KEY(_ID|_DATA)?$/i
/** Variables of these names hold a secret even when it begins like a path, as a key of AWS in base64 may. */
const LITERAL = /SECRET|TOKEN|PASSW/i
const NAMES_A_FILE = /_(FILE|PATH|DIR|DIRECTORY)$/i
const MIN_LENGTH = 8

/**
 * Credentials that stand in the environment of the service, as they are and as they look in a quoted text. The longest
 * come first, since a shorter one may be the beginning of a longer one.
 */
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
 * Replaces the credentials in an output file of the engine. The code of a repository can read the environment with
 * `file("/proc/self/environ")`, and whatever a plan shows is stored and read by others.
 */
export async function hideCredentials(path: string, credentials: readonly string[]): Promise<void> {
  const bytes = await readFile(path)
  const exposed = credentials.filter((credential) => bytes.includes(credential))
  if (exposed.length === 0) return
  const text = exposed.reduce((shown, credential) => shown.replaceAll(credential, HIDDEN), bytes.toString('utf8'))
  await writeFile(path, text, { mode: 0o600 })
}

/**
 * The last whole lines that a job has written so far. The credentials of the environment are replaced here, because the
 * files of a job that still runs hold them.
 * @param bytes how much of each stream is answered at most
 */
export async function readLiveOutput(
  files: OutputFiles,
  credentials: readonly string[],
  bytes: number,
): Promise<{ stdout: string; stderr: string }> {
  // More is read than is shown: of a credential that begins before the cut the rest would be shown otherwise.
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
