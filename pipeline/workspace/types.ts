import type { Config } from '../../config/types.ts'
import type { Logger } from '../../src/base/log.ts'
import type { Git } from './git/git.ts'

/** The working copy of one run. All paths in and out are POSIX and relative to `iac_root`. */
export interface Workspace {
  /** Absolute path of the clone: `<upload_folder>/<session uuid>/<call uuid>`. */
  readonly clone: string
  /** Absolute, real path of the engine root inside the clone; the sidecar's `workspace_path`. */
  readonly iac_root: string
  readonly branch: string
  readonly default_branch: string
  /** Commits what changed (message `Platform changes`) and pushes; answers the commit of the branch head. */
  commitAndPush(signal?: AbortSignal): Promise<string>
  head(): Promise<string>
  /** Puts the files back as they are in a commit of the branch; the branch stays where it is. */
  restore(commit: string): Promise<void>
  /** Changed, deleted and new files since the last commit, with their content or full-context diff. */
  pendingChanges(): Promise<FileChange[]>
  /** Files that differ between this commit and the branch head, deleted ones included. */
  changedFiles(since: string): Promise<string[]>
  /** Branch diff against the merge base plus the full text of untracked files. */
  branchDiff(): Promise<string>
  /** Fingerprint of the working tree (section 11.3). */
  revision(): Promise<string>
  /** Renames the call directory to `<upload_folder>/<session uuid>/pinned`, never losing both. */
  pin(): Promise<void>
  /** Removes the call directory unless it was pinned. */
  dispose(): Promise<void>
}

export interface FileChange {
  path: string
  /** True: `content` is the whole new file; false: a full-context diff. */
  new_file: boolean
  content: string
}

/** A clone on its session branch: what the operations of a workspace work on. */
export interface Checkout {
  git: Git
  /** Absolute path of the clone. */
  clone: string
  /** Absolute, real path of the engine root. */
  iac_root: string
  branch: string
  default_branch: string
  paths: Config['paths']
  log: Logger
}

/** Pathspecs that leave the backend override file out, whatever directory it is in. */
export const hiddenPaths = (paths: Config['paths']): string[] => [
  `:(exclude,glob,icase)**/${paths.backend_override_filename}`,
]
