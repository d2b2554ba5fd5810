import type { GitConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'

export interface NewPullRequest {
  title: string
  description: string
  /** Branch with the changes. */
  head: string
  /** Branch that the changes go into. */
  base: string
}

export interface CreatedPullRequest {
  /** The number that the provider shows to people. */
  id: number
  /** Address of its page. */
  url: string
  /** The provider's own word for its state. */
  status: string
}

export interface MergeOptions {
  /**
   * The commit that is to be merged, in hexadecimal digits. When the branch is at another one, nothing is merged.
   * Absent when it is not known; then whatever is on the branch is merged.
   */
  commit?: string | undefined
  /** Is called right before the request that merges. When it throws, nothing is merged. */
  confirm(): Promise<void>
  signal: AbortSignal
}

/**
 * Pull requests of one repository at one provider. Errors: `PlatformError` with the provider's status and text; 502
 * when the provider refuses the credentials, cannot be reached or answers in an unexpected form; 504 `PR creation
 * timeout` or `Complete PR timeout` when a single request takes more than 20 seconds. An aborted call throws the
 * signal's reason.
 */
export interface PullRequestHost {
  /** Longest description, in UTF-16 units. A longer one is cut. */
  readonly maxDescription: number
  create(request: NewPullRequest, signal: AbortSignal): Promise<CreatedPullRequest>
  /**
   * Merges a pull request. Further errors: 404 when it is closed or merged already, 400 when it cannot be merged, 409
   * when its branch is not at the given commit, 504 when it does not become ready in time.
   */
  merge(number: number, options: MergeOptions): Promise<void>
}

/** The parts of the platform that an adapter uses. */
export interface HostAccess {
  git: GitConfig
  fetch: Fetch
  /** Seconds to wait for a pull request to become ready. */
  readinessSeconds: number
}

/** Makes the adapter for a repository address. Errors: 400 for an address that is not the provider's. */
export type HostFactory = (access: HostAccess, uri: string) => PullRequestHost
