import type { Config } from '../../config/types.ts'
import type { FileDiff, FileVersions } from '../../src/plan/code/compare.ts'
import type { Git, LocalGit } from './git/git.ts'

/** The working copy of one run. Paths in arguments and results have slashes and are relative to `iacRoot`. */
export interface Workspace {
  /** Absolute path of the clone: `<upload_folder>/<session uuid>/<random uuid>`. */
  readonly clone: string
  /** Absolute path of git's directory of the clone, which the engine cannot reach. */
  readonly gitDirectory: string
  /** Git in the clone, which remembers listings while nothing changes. Absent where one is made for each use. */
  readonly localGit?: LocalGit
  /** Absolute, real path of the engine root in the clone; the `workspace_path` of the sidecar. */
  readonly iacRoot: string
  readonly branch: string
  readonly defaultBranch: string
  /** Sentences about parts of the repository that the clone lacks, for the result of the round. */
  readonly notes?: readonly string[]
  /**
   * Checks out what the clone lacks at first: all files that neither lie below the engine root nor are used by its code.
   * Resolves when all are there. Tools of models need not wait, an engine must, and so do the methods below that compare
   * files. Errors: 500 with git's text; the signal's reason.
   */
  complete(): Promise<void>
  /**
   * Resolves when the host has the branch, with which no model may be asked before. Absent where it has it already.
   * Errors: 500 with git's text.
   */
  readonly opened?: Promise<void>
  /**
   * Commits and pushes all changes except `isNeverPushed`. Returns the commit of the branch head.
   * @param onCommitted receives a new commit when only its push is left
   * @param ready awaited before the push, which does not take place when it rejects
   * @throws 422 for too many or too large changes; 500 with git's text, or with a path that must not be pushed
   */
  commitAndPush(onCommitted?: (commit: string) => void, ready?: Promise<unknown>): Promise<string>
  head(): Promise<string>
  /** Restores the files to a commit of the branch, which is not moved. */
  restore(commit: string): Promise<void>
  /** Reads the files that changed since the last commit: new ones with their text, others as a full-context diff. */
  pendingChanges(): Promise<FileChange[]>
  /** Stages all changes and reads how the files differ from the start of the run, in the same form. */
  runChanges(): Promise<FileChange[]>
  /** Lists the files that differ between a commit and the branch head, deleted ones included. */
  changedFiles(since: string): Promise<string[]>
  /**
   * Reads the files that differ from the merge base, or from the start of the run or its last commit, as whole texts
   * before and after. Errors: 422 for too many or too large changes; 500 with git's text.
   */
  versions(since?: 'run' | 'commit'): Promise<FileVersions[]>
  /** Reads the same as text for a model or a person: new files whole, others as diffs. Errors: those of `versions`. */
  branchDiff(): Promise<FileDiff[]>
  /** Returns the commit at which the session branch left the default branch. Errors: 500 with git's text. */
  baseCommit(): Promise<string>
  /** Fetches a commit of the session branch that the clone may lack. Errors: 502 when the remote does not give it. */
  provide(commit: string): Promise<void>
  revision(): Promise<string>
  /** Keeps the clone as `<upload_folder>/<session uuid>/saved-plan`; a crash never loses both old and new. */
  keep(): Promise<void>
  /** Removes the clone unless it was kept. */
  dispose(): Promise<void>
}

export interface FileChange {
  path: string
  /** True if `content` is the text of a new file rather than a diff with the whole file as context. */
  new_file: boolean
  content: string
}

/** A clone with its session branch checked out. */
export interface Checkout {
  git: Git
  iacRoot: string
  branch: string
  defaultBranch: string
  /** The commit at which the run begins. */
  base: string
  /** True if the branch begins at the commit of the default branch. */
  isNew?: boolean
  /** The push of the branch, which has begun. */
  opened?: Promise<void>
  /** The head of the branch, once it was read. */
  head?: string | null
  notes?: readonly string[]
  paths: Config['paths']
}
