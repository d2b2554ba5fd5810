import type { StorageConfig } from '../../../config/types.ts'
import { PlatformError } from '../../base/errors.ts'
import type { ObjectStore } from '../../data/storage/types.ts'

/**
 * Whether the lock file is there that the backend override for S3 makes the engine write. Null where it cannot be seen:
 * the state is not managed by the platform, or the store is one of blobs, which locks by a lease instead.
 * Errors: those of the object store.
 */
export async function isStateLocked(
  { config, stateStore }: { config: { storage: StorageConfig }; stateStore?: Pick<ObjectStore, 'get'> },
  projectId: string,
  signal?: AbortSignal,
): Promise<boolean | null> {
  if (!stateStore || config.storage.provider === 'STORAGE_ACCOUNT') return null
  try {
    await stateStore.get(`${projectId}/${config.storage.engine_state_filename}.tflock`, { signal })
    return true
  } catch (error) {
    if (error instanceof PlatformError && error.status === 404) return false
    throw error
  }
}
