import { HIDDEN } from './hide-credentials.ts'
import { readTail } from './job-store.ts'

/**
 * The end of what a job has written so far, whole lines only, with the credentials of the environment
 * replaced: the files of a running job still hold them.
 * @param bytes at most this much of each stream
 */
export async function liveOutput(
  files: { stdout: string; stderr: string },
  credentials: readonly string[],
  bytes: number,
): Promise<{ stdout: string; stderr: string }> {
  // A credential that begins before the cut would be shown in part: more is read than is shown.
  const longest = Math.max(0, ...credentials.map((credential) => Buffer.byteLength(credential)))
  const tail = async (path: string) => {
    const text = await readTail(path, bytes + longest)
    const hidden = credentials.reduce((shown, credential) => shown.replaceAll(credential, HIDDEN), text)
    const is_cut = Buffer.byteLength(text) >= bytes + longest
    const cut = Math.max(hidden.length - bytes, is_cut ? longest : 0)
    const start =
      cut <= 0 || hidden[cut - 1] === '\n' ? Math.max(0, cut) : hidden.indexOf('\n', cut) + 1 || hidden.length
    const lines = hidden.slice(start)
    return lines.includes('\n') ? lines.slice(0, lines.lastIndexOf('\n') + 1) : ''
  }
  const [stdout, stderr] = await Promise.all([tail(files.stdout), tail(files.stderr)])
  return { stdout, stderr }
}
