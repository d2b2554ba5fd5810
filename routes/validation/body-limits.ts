/** The largest bodies that routes take, in bytes. A route has the smallest one unless its `maxBodyBytes` says more. */
export const SMALL_BODY = 64 * 1024
/** A message with links and facts, also where its characters are written as escapes. */
export const MESSAGE_BODY = 1024 * 1024
/** A request in plain words, whose length the API does not limit: a whole specification may be pasted into it. */
export const REQUEST_BODY = 2 * 1024 * 1024

/** A size for people: `64 KiB`, `2 MiB`. */
export const sizeText = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / (1024 * 1024)} MiB`
