/**
 * The artifacts bucket. Errors are `PlatformError`: 503 when the store cannot be reached, 404 for a
 * missing object, 500 otherwise.
 */
export interface ObjectStore {
  /** Creates the artifacts bucket and, with managed state, the state bucket, when absent. */
  ensureBuckets(): Promise<void>
  /** Metadata keys are bare; the store adds its own prefix. Returns the encoded length in bytes. */
  put(
    key: string,
    body: string | Uint8Array<ArrayBuffer>,
    options: { content_type: string; metadata?: Record<string, string>; signal?: AbortSignal },
  ): Promise<number>
  /** @param options.max_bytes a larger object is an error; default 64 MiB */
  get(key: string, options?: { signal?: AbortSignal; max_bytes?: number }): Promise<Uint8Array<ArrayBuffer>>
  /** Best effort where the caller says so; a missing object is no error. */
  delete(key: string): Promise<void>
  /** A GET URL signed for the public host, `presign_expiry_seconds` long. No network call. */
  presign(key: string): Promise<string>
  /**
   * When URLs signed now stop working although their own expiry is later: temporary credentials take
   * their signatures with them. Null when nothing but the expiry ends them.
   */
  urlsLapse(): Promise<Date | null>
  /** What the browser sees before a metadata name: `x-amz-meta-` or `x-ms-meta-`. */
  readonly metadata_prefix: string
}
