import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** Removes a file right inside a directory; one that is missing is no error. `name` is reduced to its last part. */
export async function removeFile(directory: string, name: string): Promise<void> {
  await rm(join(directory, basename(name)), { force: true })
}
