import type { GitConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'

export interface NewPullRequest {
  title: string
  description: string
  /** Branch with the changes. */
  head: string
  /** Branch to merge into. */
  base: string
}

export interface CreatedPullRequest {
  /** Number that the provider shows. */
  id: number
  /** Address of its page. */
  url: string
  /** State in the provider's words. */
  status: string
}

export interface MergeOptions {
  /** Hexadecimal commit; the merge fails when the branch is at another one. Without it any commit is merged. */
  commit?: string | undefined
  /** Runs right before the merge request; throwing prevents the merge. */
  confirm(): Promise<void>
  signal: AbortSignal
}

/**
 * Client for pull requests of one repository. Errors: `PlatformError` with the provider's status and text; 502 when the
 * provider refuses the credentials, cannot be reached or answers in an unexpected form; 504 `PR creation timeout` or
 * `Complete PR timeout` when a single request takes more than 20 seconds; the signal's reason.
 */
export interface PullRequestHost {
  /** Longest description, in UTF-16 units; longer ones are cut. */
  readonly maxDescription: number
  create(request: NewPullRequest, signal: AbortSignal): Promise<CreatedPullRequest>
  /**
   * Merges a pull request. Further errors: 404 when it is closed or merged already, 400 when it cannot be merged, 409
   * when its branch is not at the given commit, 504 when it does not become ready in time.
   */
  merge(number: number, options: MergeOptions): Promise<void>
}

/** The platform's functions and settings for an adapter. */
export interface HostAccess {
  git: GitConfig
  fetch: Fetch
  /** Seconds to wait for a pull request to become ready. */
  readinessSeconds: number
}

/** Creates the adapter for a repository address. Errors: 400 for an address that is not the provider's. */
export type HostFactory = (access: HostAccess, uri: string) => PullRequestHost
