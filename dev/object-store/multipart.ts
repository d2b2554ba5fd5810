import { createHash, randomBytes } from 'node:crypto'
import { S3Error } from './s3.ts'

/** Each part but the last has at least this many bytes. */
const MIN_PART_BYTES = 5 * 1024 * 1024

interface Upload {
  bucket: string
  key: string
  headers: Record<string, string>
  parts: Map<number, { body: Buffer; md5: Buffer }>
}

/** Keeps unfinished uploads in memory, because their parts are not readable before they are completed. */
export function createUploads() {
  const uploads = new Map<string, Upload>()
  const find = (id: string, bucket: string, key: string): Upload => {
    const upload = uploads.get(id)
    if (!upload || upload.bucket !== bucket || upload.key !== key)
      throw new S3Error(404, 'NoSuchUpload', 'The specified multipart upload does not exist.')
    return upload
  }
  return {
    start(bucket: string, key: string, headers: Record<string, string>): string {
      const id = randomBytes(16).toString('hex')
      uploads.set(id, { bucket, key, headers, parts: new Map() })
      return id
    },
    add(id: string, bucket: string, key: string, number: number, body: Buffer): string {
      const upload = find(id, bucket, key)
      if (!Number.isInteger(number) || number < 1 || number > 10_000)
        throw new S3Error(400, 'InvalidArgument', 'Part number must be an integer between 1 and 10000')
      const md5 = createHash('md5').update(body).digest()
      upload.parts.set(number, { body, md5 })
      return md5.toString('hex')
    },
    /** Joins the parts to the whole object. The caller ends the upload with `abort` when the object is stored. */
    assemble(id: string, bucket: string, key: string, list: readonly { number: number; etag: string }[]) {
      const upload = find(id, bucket, key)
      if (list.some(({ number }, index) => number <= (list[index - 1]?.number ?? 0)))
        throw new S3Error(400, 'InvalidPartOrder', 'The list of parts was not in ascending order.')
      const parts = list.map(({ number, etag }) => {
        const part = upload.parts.get(number)
        if (part?.md5.toString('hex') !== etag.replaceAll('"', ''))
          throw new S3Error(400, 'InvalidPart', 'One or more of the specified parts could not be found.')
        return part
      })
      if (parts.length === 0) throw new S3Error(400, 'MalformedXML', 'The XML you provided was not well-formed.')
      if (parts.slice(0, -1).some(({ body }) => body.length < MIN_PART_BYTES))
        throw new S3Error(
          400,
          'EntityTooSmall',
          'Your proposed upload is smaller than the minimum allowed object size.',
        )
      const md5 = createHash('md5').update(Buffer.concat(parts.map((part) => part.md5)))
      const etag = `${md5.digest('hex')}-${parts.length}`
      return { body: Buffer.concat(parts.map((part) => part.body)), headers: upload.headers, etag }
    },
    abort(id: string, bucket: string, key: string): void {
      find(id, bucket, key)
      uploads.delete(id)
    },
  }
}
export type Uploads = ReturnType<typeof createUploads>
