/** Temporary keys of the state store, which reach the state of one project and its lock. */
export interface StateKeys {
  access_key: string
  secret_key: string
  session_token: string
  expires: Date
}

/** Makes temporary keys for the state of a project. */
export interface StateKeySource {
  /**
   * Asks the token service for new keys. They last for a whole engine job.
   * Errors: `PlatformError` 503 when the token service cannot be reached, 502 when it refuses.
   */
  issue(projectId: string): Promise<StateKeys>
}

/**
 * A bucket of objects. Errors are `PlatformError`: 404 for a missing object, 503 when the store cannot be reached,
 * and 500 otherwise.
 */
export interface ObjectStore {
  /** Creates the artifacts bucket and, when the platform manages engine state, the state bucket, unless they exist. */
  ensureBuckets(): Promise<void>
  /** Stores an object and answers its size in bytes. The store puts its own prefix before the names of metadata. */
  put(
    key: string,
    body: string | Uint8Array<ArrayBuffer>,
    options: { content_type: string; metadata?: Record<string, string>; signal?: AbortSignal },
  ): Promise<number>
  /** Reads an object. A larger one than `maxBytes`, by default 64 MiB, is an error. */
  get(key: string, options?: { signal?: AbortSignal; maxBytes?: number }): Promise<Uint8Array<ArrayBuffer>>
  /** Deletes an object. A missing object is no error. */
  delete(key: string): Promise<void>
  /** A URL for GET at the public host, valid for `presign_expiry_seconds`. It is computed without a request. */
  presign(key: string): Promise<string>
  /**
   * When URLs that are signed now stop working before their own expiry. Temporary credentials cause that: their
   * signatures are invalid once they expire. Null when only the expiry of the URL counts.
   */
  urlsLapse(): Promise<Date | null>
  /** The prefix of metadata names in the headers that a browser sees: `x-amz-meta-` or `x-ms-meta-`. */
  readonly metadataPrefix: string
}
