import type { Context } from '../context.ts'

export interface ArtifactObject {
  key: string
  body: string
  content_type: string
  metadata?: Record<string, string>
}

/**
 * Uploads first and inserts the row second, so that no row points at nothing. When the row fails, the
 * object is deleted as well as that is possible, and the row's error is thrown.
 * @param insert gets the size of the body in bytes
 */
export async function storeArtifact<Row>(
  context: Pick<Context, 'storage' | 'log'>,
  object: ArtifactObject,
  insert: (file_size_bytes: number) => Promise<Row>,
  signal?: AbortSignal,
): Promise<Row> {
  const { key, body, content_type, metadata } = object
  const size = await context.storage.put(key, body, { content_type, metadata, signal })
  try {
    return await insert(size)
  } catch (error) {
    await context.storage
      .delete(key)
      .catch((reason: unknown) =>
        context.log.warn('an uploaded object without a row could not be deleted', { key, reason }),
      )
    throw error
  }
}
