import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyedLock, readText, writeAtomically } from '../files.ts'
import { S3Error } from './s3.ts'

/** The facts about an object, which are the first line of its file, before the bytes. */
export interface StoredObject {
  key: string
  size: number
  /** MD5 in hexadecimal digits, or `<md5>-<parts>` for a multipart upload, without quotes. */
  etag: string
  last_modified: string
  /** The headers of a GET, for example the content type and the user's metadata. */
  headers: Record<string, string>
}
interface Indexed extends StoredObject {
  file: string
  offset: number
}

export type Disk = Awaited<ReturnType<typeof openDisk>>

/**
 * Opens a folder with objects, one file each, replaced by renaming. Only one process may use the folder, because the
 * index is built from the files' first lines at start. Errors: `S3Error` `NoSuchBucket`.
 */
export async function openDisk(root: string, now: () => Date) {
  const buckets = await loadBuckets(root)
  const locked = createKeyedLock()
  const objects = (bucket: string) => {
    const found = buckets.get(bucket)
    if (!found) throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist')
    return found
  }
  return {
    /** Returns false if the bucket exists. */
    createBucket: (name: string): Promise<boolean> =>
      locked(name, async () => {
        if (buckets.has(name)) return false
        await mkdir(join(root, name), { recursive: true })
        await writeFile(join(root, name, 'bucket.json'), JSON.stringify({ created: now().toISOString() }))
        buckets.set(name, new Map())
        return true
      }),
    /** Lists the objects below a prefix and after a key, in the code-point order of their keys. */
    list: (bucket: string, prefix = '', after = ''): StoredObject[] =>
      [...objects(bucket).values()]
        .filter(({ key }) => key.startsWith(prefix) && compare(key, after) > 0)
        .sort((a, b) => compare(a.key, b.key)),
    find: (bucket: string, key: string): Indexed | undefined => objects(bucket).get(key),
    read: async ({ file, offset }: Indexed): Promise<Buffer> => (await readFile(file)).subarray(offset),
    write: async (bucket: string, object: Pick<StoredObject, 'key' | 'etag' | 'headers'>, body: Buffer) => {
      const index = objects(bucket)
      const stored: StoredObject = { ...object, size: body.length, last_modified: now().toISOString() }
      const head = Buffer.from(`${JSON.stringify(stored)}\n`)
      const name = createHash('sha256').update(object.key).digest('hex')
      const file = join(root, bucket, 'objects', name.slice(0, 2), name)
      await writeAtomically(file, Buffer.concat([head, body]))
      index.set(object.key, { ...stored, file, offset: head.length })
    },
    delete: async (bucket: string, key: string): Promise<void> => {
      const object = objects(bucket).get(key)
      if (!object) return
      await rm(object.file, { force: true })
      objects(bucket).delete(key)
    },
    /** Runs tasks on the same key one after the other, so that a condition still holds when the task writes. */
    withLock: <T>(bucket: string, key: string, task: () => Promise<T>): Promise<T> => locked(`${bucket}/${key}`, task),
  }
}

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

async function loadBuckets(root: string): Promise<Map<string, Map<string, Indexed>>> {
  await mkdir(root, { recursive: true })
  const buckets = new Map<string, Map<string, Indexed>>()
  for (const name of await readdir(root)) {
    if ((await readText(join(root, name, 'bucket.json'))) === null) continue
    const objects = new Map<string, Indexed>()
    const options = { recursive: true, withFileTypes: true } as const
    for (const entry of await readdir(join(root, name, 'objects'), options).catch(() => [])) {
      if (!entry.isFile()) continue
      const file = join(entry.parentPath, entry.name)
      if (entry.name.endsWith('.tmp')) await rm(file, { force: true })
      else {
        const object = await loadObject(file)
        objects.set(object.key, object)
      }
    }
    buckets.set(name, objects)
  }
  return buckets
}

/** Bytes of a file that are read for its first line. S3 allows 2 kB of metadata and 1 kB of key, so it is shorter. */
const HEAD_LIMIT = 65_536

async function loadObject(file: string): Promise<Indexed> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_LIMIT), 0, HEAD_LIMIT, 0)
    const end = buffer.subarray(0, bytesRead).indexOf(10)
    if (end < 0) throw new Error(`no object file: ${file}`)
    return { ...(JSON.parse(buffer.toString('utf8', 0, end)) as StoredObject), file, offset: end + 1 }
  } finally {
    await handle.close()
  }
}
