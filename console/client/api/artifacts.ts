import { Unreachable } from './errors.ts'

export interface Artifact {
  text: string
  /** The metadata of the store by its short names: `type`, `new_file`. */
  metadata: Record<string, string>
}

/** A link that is no longer valid, or that the store refuses for another reason. */
export class LinkExpired extends Error {
  constructor() {
    super('The link to this document has expired.')
    this.name = 'LinkExpired'
  }
}

const TIMEOUT_MS = 60_000

/**
 * Reads an artifact by its presigned URL, without the token. Throws `LinkExpired`, `Unreachable` or `AbortError`.
 * @param prefix the prefix of metadata names in headers, from the sign-in configuration
 */
export async function readArtifact(url: string, prefix: string, signal?: AbortSignal): Promise<Artifact> {
  const limits = [AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]
  const reached = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (signal?.aborted) throw error
      throw new Unreachable({ cause: error })
    }
  }
  const response = await reached(
    fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer', signal: AbortSignal.any(limits) }),
  )
  if (!response.ok) throw new LinkExpired()
  const metadata: Record<string, string> = {}
  for (const [name, value] of response.headers)
    if (name.startsWith(prefix)) metadata[name.slice(prefix.length).replaceAll('-', '_')] = value
  return { text: await reached(response.text()), metadata }
}
