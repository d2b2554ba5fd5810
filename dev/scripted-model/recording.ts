/** The files that the model has read in this chain, by name. A missing file is undefined. */
export type Files = Readonly<Record<string, string | undefined>>

export type Edit = { write: string; content: string } | { replace: string; search: string; by: string }

/** A statement in the form of the tool's arguments. */
export interface Statement {
  kind: 'resource_count' | 'attribute' | 'no_deletions'
  text: string
  words: string
  [field: string]: unknown
}

/** One recorded piece of work: the requests that it fits, what it reads and what it writes. */
export interface Recording {
  name: string
  matches(request: string): boolean
  /** Names of the files that are read before anything is written. */
  reads(request: string): string[]
  /** Says why the work cannot be played on this repository; null when it can. `listing` is the answer of `list_dir`. */
  obstacle(request: string, listing: string, files: Files): string | null
  edits(request: string, files: Files): Edit[]
  summary(request: string): string
  /** What the plan must show for the request, as arguments of `report_intent_statements`. */
  statements(request: string): Statement[]
  /** The title of the pull request. */
  title(request: string): string
}
