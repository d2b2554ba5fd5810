/** Parameters that some models refuse; they are left out where the table or an answer says so. */
export type Parameter = 'temperature' | 'reasoning_effort' | 'tool_choice'

/** How a model searches the web; see `search.ts`. */
export type SearchWay = 'chat' | 'responses' | 'plain' | 'openrouter' | 'groq' | 'conversations'

export interface Quirks {
  /** Name of the completion cap. */
  cap: 'max_tokens' | 'max_completion_tokens'
  unsupported: readonly Parameter[]
  /** Null: not at all. */
  search: SearchWay | null
  /** Whether the native search parameter has a context size. */
  search_size: boolean
  /** Finish reasons of the provider by the usual ones. */
  finish: Readonly<Record<string, string>>
  /** Fields of an answer's message and of its calls that have to come back with it. */
  echo: readonly ('reasoning_content' | 'reasoning_details' | 'extra_content')[]
  /** Ids of calls that the provider accepts; others are replaced. */
  call_id?: RegExp
  /** Highest temperature; default is whatever was configured. */
  max_temperature?: number
}

export const quirksOf = (own: Partial<Quirks> = {}): Quirks => ({
  cap: 'max_tokens',
  unsupported: [],
  search: null,
  search_size: true,
  finish: {},
  echo: [],
  ...own,
})
