/** Temporary keys of the state store, limited to the state of one project and its lock. */
export interface StateKeys {
  access_key: string
  secret_key: string
  session_token: string
  expires: Date
}

/** Issues temporary keys for the state of a project. */
export interface StateKeySource {
  /** Requests new keys for a whole engine job. Throws `PlatformError`: 503 when unreachable, 502 when refused. */
  issue(projectId: string): Promise<StateKeys>
}

/** A bucket of objects. Throws `PlatformError`: 404 for a missing object, 503 when unreachable, otherwise 500. */
export interface ObjectStore {
  /** Creates the missing buckets: for artifacts and, when the platform manages engine state, for the state. */
  ensureBuckets(): Promise<void>
  /** Stores an object and returns its size in bytes. The store adds its own prefix to the names of metadata. */
  put(
    key: string,
    body: string | Uint8Array<ArrayBuffer>,
    options: { content_type: string; metadata?: Record<string, string>; signal?: AbortSignal },
  ): Promise<number>
  /** Reads an object. Throws when it is larger than `maxBytes`, by default 64 MiB. */
  get(key: string, options?: { signal?: AbortSignal; maxBytes?: number }): Promise<Uint8Array<ArrayBuffer>>
  /** Deletes an object, if it exists. */
  delete(key: string): Promise<void>
  /** Returns a URL for GET at the public host, valid for `presign_expiry_seconds`. Sends no request. */
  presign(key: string): Promise<string>
  /**
   * Returns the time at which URLs signed now become invalid before their own expiry, because the temporary credentials
   * that signed them expire. Null when only the URL's expiry counts.
   */
  urlsLapse(): Promise<Date | null>
  /** The prefix of metadata names in the headers that a browser receives: `x-amz-meta-` or `x-ms-meta-`. */
  readonly metadataPrefix: string
}
