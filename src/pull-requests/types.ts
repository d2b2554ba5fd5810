import type { GitConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'

export interface NewPullRequest {
  title: string
  description: string
  /** Branch with the changes. */
  head: string
  /** Branch they go into. */
  base: string
}

export interface CreatedPullRequest {
  /** The provider's number, as people see it. */
  id: number
  /** Address of its page. */
  url: string
  /** The provider's own word for its state. */
  status: string
}

export interface MergeOptions {
  /** Runs right before the call that merges; when it throws, nothing is merged. */
  confirm(): Promise<void>
  signal: AbortSignal
}

/**
 * Pull requests of one repository at one provider.
 * Errors: `PlatformError` with the provider's status and text; 502 where the provider refuses the
 * credentials, is not reachable or answers in another form; 504 `PR creation timeout` and
 * `Complete PR timeout` after 20 seconds of one call. An aborted call throws the signal's reason.
 */
export interface PullRequestHost {
  /** UTF-16 units of a description; a longer one is cut. */
  readonly maxDescription: number
  create(request: NewPullRequest, signal: AbortSignal): Promise<CreatedPullRequest>
  /** Further errors: 404 when it is closed or merged, 400 when it cannot be merged, 504 when it is not ready in time. */
  merge(number: number, options: MergeOptions): Promise<void>
}

/** What an adapter needs of the platform. */
export interface HostAccess {
  git: GitConfig
  fetch: Fetch
  /** One-second waits for a pull request to become ready. */
  readinessSeconds: number
}

/** Makes the adapter for a repository address. Errors: 400 for an address that is not the provider's. */
export type HostFactory = (access: HostAccess, uri: string) => PullRequestHost
