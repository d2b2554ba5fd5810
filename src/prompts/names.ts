export const PROMPT_SCOPES = ['general', 'azure', 'gcp', 'aws', 'oci', 'kubernetes'] as const
export type PromptScope = (typeof PROMPT_SCOPES)[number]
export const PROMPT_TYPES = ['guidelines', 'resources', 'compliance'] as const
export type PromptType = (typeof PROMPT_TYPES)[number]

/** Name under which registry and layouts know a prompt; names hold no hyphen, so it is unambiguous. */
export const qualifiedName = (scope: PromptScope, type: PromptType, name: string) => `${scope}-${type}-${name}`
