/** The tags under which runs fetch prompts, one for each environment. */
export const TAGS = ['development', 'staging', 'production'] as const
export type Tag = (typeof TAGS)[number]

/** The model name of versions that this platform wrote, by which it knows them again. */
export const SEED_MODEL = 'platform-seed'

export interface PromptVersion {
  id: string
  model_name: string
  /** First text of the first message; null when the version has none. */
  text: string | null
}

/** Where the prompt registry listens and how it is asked. */
export interface RegistryAccess {
  /** `telemetry.collector_url`. */
  url: string
  /** Sent as bearer token; empty: none. */
  api_key: string
}

/**
 * The prompt registry (contract, section 4.3).
 * Errors of every call: `RegistryError`.
 */
export interface PromptRegistry {
  /** Null when there is no prompt of that name. */
  findLatest(name: string): Promise<PromptVersion | null>
  /** Answers the id of the new version. Not repeated after a fault, because the registry might keep both versions. */
  create(name: string, prompt: { body: string; description: string }): Promise<string>
  tag(versionId: string, tag: Tag): Promise<void>
  /** Null when there is no prompt of that name or no version with that tag. */
  findTagged(name: string, tag: Tag, signal?: AbortSignal): Promise<PromptVersion | null>
  /** One call without repetition that shows whether the registry answers. */
  probe(): Promise<void>
}

/** A call failed: `unreachable` when no answer came, `refused` when the answer is an error or cannot be read. */
export class RegistryError extends Error {
  readonly kind: 'unreachable' | 'refused'
  constructor(kind: RegistryError['kind'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'RegistryError'
    this.kind = kind
  }
}
