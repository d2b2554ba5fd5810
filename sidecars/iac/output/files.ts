import { open, rm, writeFile } from 'node:fs/promises'

/** Paths of the two files that hold the output of a job. */
export interface OutputFiles {
  stdout: string
  stderr: string
}

/** Replaces the output by new files, since readers remember positions in the old ones; returns the exit code. */
export async function writeOutput(
  files: OutputFiles,
  exitCode: number,
  stdout: string,
  stderr: string,
): Promise<number> {
  await removeOutput(files)
  await writeFile(files.stdout, stdout, { mode: 0o600 })
  await writeFile(files.stderr, stderr, { mode: 0o600 })
  return exitCode
}

/** Removes the output of an earlier command of the same job. */
export async function removeOutput({ stdout, stderr }: OutputFiles): Promise<void> {
  await Promise.all([rm(stdout, { force: true }), rm(stderr, { force: true })])
}

/** Reads at most `limit` bytes from the end of a file; none when it is missing. */
export async function readEnd(path: string, limit: number): Promise<Buffer> {
  const file = await open(path).catch(() => null)
  if (!file) return Buffer.alloc(0)
  try {
    const { size } = await file.stat()
    const length = Math.min(size, limit)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Reads the last `limit` bytes of a file as text; empty when they cannot be read. */
export const readTail = (path: string, limit: number): Promise<string> =>
  readEnd(path, limit).then(
    (bytes) => bytes.toString('utf8'),
    () => '',
  )
