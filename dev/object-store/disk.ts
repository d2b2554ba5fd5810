import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyedLock, writeAtomically } from '../files.ts'
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

/**
 * Objects on disk, one file each, replaced by renaming. Only one process may use the folder, because the index is built
 * from the files' first lines at start.
 */
export interface Disk {
  buckets(): { name: string; created: string }[]
  hasBucket(name: string): boolean
  createBucket(name: string): Promise<void>
  deleteBucket(name: string): Promise<void>
  /** Lists objects in the code-point order of their keys. */
  list(bucket: string, prefix: string): StoredObject[]
  find(bucket: string, key: string): StoredObject | null
  read(bucket: string, key: string, range?: { start: number; end: number }): Promise<Buffer>
  write(bucket: string, object: Omit<StoredObject, 'size' | 'last_modified'>, body: Buffer): Promise<StoredObject>
  delete(bucket: string, key: string): Promise<void>
  /** Runs tasks on the same key one after the other, so that a condition still holds when the task writes. */
  withLock<T>(bucket: string, key: string, task: () => Promise<T>): Promise<T>
}

export async function openDisk(root: string, now: () => Date): Promise<Disk> {
  const buckets = await loadBuckets(root)
  const locked = createKeyedLock()
  const objects = (bucket: string) => {
    const bucketObjects = buckets.get(bucket)
    if (!bucketObjects) throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist')
    return bucketObjects.objects
  }
  const require = (bucket: string, key: string) => {
    const object = objects(bucket).get(key)
    if (!object) throw new S3Error(404, 'NoSuchKey', 'The specified key does not exist.')
    return object
  }
  return {
    buckets: () =>
      [...buckets].map(([name, { created }]) => ({ name, created })).sort((a, b) => compare(a.name, b.name)),
    hasBucket: (name) => buckets.has(name),
    createBucket: async (name) => {
      const created = now().toISOString()
      await mkdir(join(root, name), { recursive: true })
      await writeFile(join(root, name, 'bucket.json'), JSON.stringify({ created }))
      buckets.set(name, { created, objects: new Map() })
    },
    deleteBucket: async (name) => {
      if (objects(name).size > 0)
        throw new S3Error(409, 'BucketNotEmpty', 'The bucket you tried to delete is not empty')
      buckets.delete(name)
      await rm(join(root, name), { recursive: true, force: true })
    },
    list: (bucket, prefix) =>
      [...objects(bucket).values()]
        .filter((object) => object.key.startsWith(prefix))
        .sort((a, b) => compare(a.key, b.key)),
    find: (bucket, key) => objects(bucket).get(key) ?? null,
    read: async (bucket, key, range) => {
      const { file, offset, size } = require(bucket, key)
      const handle = await open(file)
      try {
        const { start, end } = range ?? { start: 0, end: size - 1 }
        const buffer = Buffer.alloc(end - start + 1)
        await handle.read(buffer, 0, buffer.length, offset + start)
        return buffer
      } finally {
        await handle.close()
      }
    },
    write: async (bucket, object, body) => {
      const index = objects(bucket)
      const stored: StoredObject = { ...object, size: body.length, last_modified: now().toISOString() }
      const head = Buffer.from(`${JSON.stringify(stored)}\n`)
      const file = fileOf(root, bucket, object.key)
      await writeAtomically(file, [head, body])
      index.set(object.key, { ...stored, file, offset: head.length })
      return stored
    },
    delete: async (bucket, key) => {
      const object = objects(bucket).get(key)
      if (!object) return
      await rm(object.file, { force: true })
      objects(bucket).delete(key)
    },
    withLock: (bucket, key, task) => locked(`${bucket}/${key}`, task),
  }
}

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

function fileOf(root: string, bucket: string, key: string): string {
  const name = createHash('sha256').update(key).digest('hex')
  return join(root, bucket, 'objects', name.slice(0, 2), name)
}

async function loadBuckets(root: string): Promise<Map<string, { created: string; objects: Map<string, Indexed> }>> {
  await mkdir(root, { recursive: true })
  const buckets = new Map<string, { created: string; objects: Map<string, Indexed> }>()
  for (const name of await readdir(root)) {
    const text = await readFile(join(root, name, 'bucket.json'), 'utf8').catch(() => null)
    if (text === null) continue
    const { created } = JSON.parse(text) as { created: string }
    const objects = new Map<string, Indexed>()
    const folder = join(root, name, 'objects')
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
      const file = join(entry.parentPath, entry.name)
      if (entry.isFile() && entry.name.endsWith('.tmp')) await rm(file, { force: true })
      else if (entry.isFile()) {
        const object = await loadObject(file)
        objects.set(object.key, object)
      }
    }
    buckets.set(name, { created, objects })
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
