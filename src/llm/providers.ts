import { providerOf } from '../../config/provider-variables.ts'

/** Parameters that some models refuse; they are left out where the table or an answer says so. */
export type Parameter = 'temperature' | 'reasoning_effort'

export interface Quirks {
  /** Name of the completion cap. */
  cap: 'max_tokens' | 'max_completion_tokens'
  unsupported: readonly Parameter[]
  /** How the model searches the web: in chat completions, through the responses API, or not at all. */
  search: 'chat' | 'responses' | null
}

export interface Provider {
  /** What stands before the slash in `<provider>/<model-id>`. */
  name: string
  /** Model ids that belong to this provider even without a prefix. */
  bare?: RegExp
  /** Speaks the chat-completions dialect below this address. */
  base_url: string
  /** Path of a configured base URL that has none. */
  default_path?: string
  /** Variables by precedence. */
  base_url_variables: readonly string[]
  key_variables: readonly string[]
  organization_variable?: string
  quirks(model_id: string): Partial<Quirks>
}

const REASONING = /^(o\d|gpt-[5-9])/
const SEARCHING = /-search-(preview|api)/
const RESPONSES_SEARCH = /^(gpt-4o|gpt-4\.1|gpt-[5-9]|o[3-9])/

/** One row per provider. */
const PROVIDERS: readonly Provider[] = [
  {
    name: 'openai',
    bare: /^(gpt-|chatgpt-|o\d)/,
    base_url: 'https://api.openai.com/v1',
    base_url_variables: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'],
    key_variables: ['OPENAI_API_KEY'],
    organization_variable: 'OPENAI_ORGANIZATION',
    quirks: (id) => {
      if (SEARCHING.test(id)) return { search: 'chat', unsupported: ['temperature', 'reasoning_effort'] }
      const search = RESPONSES_SEARCH.test(id) ? 'responses' : null
      if (REASONING.test(id)) return { cap: 'max_completion_tokens', unsupported: ['temperature'], search }
      return { unsupported: ['reasoning_effort'], search }
    },
  },
  {
    name: 'anthropic',
    bare: /^claude-/,
    base_url: 'https://api.anthropic.com/v1',
    default_path: '/v1',
    base_url_variables: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_BASE'],
    key_variables: ['ANTHROPIC_API_KEY'],
    quirks: () => ({}),
  },
]

/** The row and the model id of `<provider>/<model-id>`; null when the table does not know the provider. */
export function providerFor(model: string): { provider: Provider; model_id: string } | null {
  const prefix = providerOf(model)
  const provider = PROVIDERS.find((row) => (prefix === '' ? row.bare?.test(model) : row.name === prefix))
  return provider ? { provider, model_id: prefix === '' ? model : model.slice(prefix.length + 1) } : null
}

export const knownProviders = (): string[] => PROVIDERS.map((row) => row.name)
