import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Stores recordings in a folder, readable by the owner only; a file is there whole or not at all. */
export const recordingFolder =
  (folder: string) =>
  async (name: string, text: string): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, name)
    await writeFile(`${path}.tmp`, text, { mode: 0o600 })
    await rename(`${path}.tmp`, path)
  }
