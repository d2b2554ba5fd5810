import type { Config } from '../../config/types.ts'
import type { Logger } from '../../src/base/log.ts'
import type { Git } from './git/git.ts'

/** The working copy of one run. Paths in arguments and results have slashes and are relative to `iacRoot`. */
export interface Workspace {
  /** Absolute path of the clone: `<upload_folder>/<session uuid>/<random uuid>`. */
  readonly clone: string
  /** Absolute path of git's own directory of the clone, which the engine cannot reach. */
  readonly gitDirectory: string
  /** Absolute, real path of the engine root inside the clone. The sidecar gets it as `workspace_path`. */
  readonly iacRoot: string
  readonly branch: string
  readonly defaultBranch: string
  /**
   * Commits what changed, with the message `Platform changes`, and pushes. Returns the commit of the branch head. What
   * is never pushed (`isNeverPushed`) is left out.
   */
  commitAndPush(signal?: AbortSignal): Promise<string>
  /** Commit of the branch head. */
  head(): Promise<string>
  /** Makes the files what they are in a commit of the branch. The branch is not moved. */
  restore(commit: string): Promise<void>
  /** Reads the files that changed since the last commit: new ones with their text, others as a full-context diff. */
  pendingChanges(): Promise<FileChange[]>
  /** Lists the files that differ between a commit and the branch head, deleted ones included. */
  changedFiles(since: string): Promise<string[]>
  /**
   * Reads the diff of the branch against the merge base, and the full text of files that are not committed.
   * @param since with `run`, against the commit with which the run began
   */
  branchDiff(since?: 'run'): Promise<string>
  /** Fingerprint of the working tree. */
  revision(): Promise<string>
  /**
   * Keeps the clone as the plan directory of the session, `<upload_folder>/<session uuid>/saved-plan`. A crash never
   * loses both it and an earlier one.
   */
  keep(): Promise<void>
  /** Removes the clone unless it was kept. */
  dispose(): Promise<void>
}

export interface FileChange {
  path: string
  /** When true, `content` is the text of a new file, otherwise a diff with the whole file as context. */
  new_file: boolean
  content: string
}

/** A clone with its session branch checked out, on which the functions of this room work. */
export interface Checkout {
  git: Git
  /** Absolute path of the clone. */
  clone: string
  /** Absolute, real path of the engine root. */
  iacRoot: string
  branch: string
  defaultBranch: string
  /** Commit with which the run begins. */
  base: string
  paths: Config['paths']
  log: Logger
}
