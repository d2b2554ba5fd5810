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

/** Reads at most `limit` bytes from the end of a file; empty when it is missing. */
export async function readTail(path: string, limit: number): Promise<string> {
  try {
    const handle = await open(path)
    try {
      const { size } = await handle.stat()
      const length = Math.min(size, limit)
      const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length)
      return buffer.toString('utf8')
    } finally {
      await handle.close()
    }
  } catch {
    return ''
  }
}
