import { Unreachable } from './errors.ts'

export interface Artifact {
  text: string
  /** Metadata of the store by its short name: `type`, `new_file`. */
  metadata: Record<string, string>
}

/** The link is no longer valid, or the store refuses it for another reason. */
export class LinkExpired extends Error {
  constructor() {
    super('The link to this document has expired.')
    this.name = 'LinkExpired'
  }
}

const TIMEOUT_MS = 60_000

/**
 * Reads an artifact by its presigned URL, which needs no token and must not get one.
 * @param prefix what stands before metadata names in headers, from the sign-in configuration
 * Errors: `LinkExpired`, `Unreachable`, `AbortError`.
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
