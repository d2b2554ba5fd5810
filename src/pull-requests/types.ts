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

/**
 * Pull requests of one repository at one provider.
 * Errors: `PlatformError` with the provider's status and text; 502 where the provider refuses the
 * credentials or is not reachable, 504 `PR creation timeout`.
 */
export interface PullRequestHost {
  create(request: NewPullRequest, signal?: AbortSignal): Promise<CreatedPullRequest>
}
