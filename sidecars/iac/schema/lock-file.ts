import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { readHcl, textOf } from '../../../src/hcl/read.ts'
import type { Engine } from '../types.ts'

const NAME = '.terraform.lock.hcl'
const MAX_BYTES = 4 * 1024 * 1024

export interface LockFile {
  /** A hash that stands for exactly these providers under exactly this engine. */
  key: string
  /** The versions that were selected, by source address. */
  versions: Map<string, string>
}

/** The lock file of a workspace; null without one, as when a workspace uses built-in providers only. */
export async function readLockFile(workspace: string, engine: Engine): Promise<LockFile | null> {
  const handle = await open(
    join(workspace, NAME),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch(() => null)
  if (!handle) return null
  try {
    const stat = await handle.stat()
    if (!stat.isFile() || stat.size > MAX_BYTES) return null
    const bytes = await handle.readFile()
    const key = createHash('sha256').update(`${engine.name}\0${engine.version}\0`).update(bytes).digest('hex')
    return { key, versions: versionsOf(bytes.toString('utf8')) }
  } finally {
    await handle.close()
  }
}

const versionsOf = (text: string): Map<string, string> =>
  new Map(
    readHcl(text).body.blocks.flatMap(({ labels: [source], body }) => {
      const version = textOf(body, 'version')
      return source === undefined || version === null ? [] : [[source, version]]
    }),
  )
