/**
 * The variables of the providers whose credentials are checked at boot; for others, the first call fails. One set of
 * `anyOf` has to be complete; if none is, the error names those of `reported`, by default the first set. The `optional`
 * ones are read if set but never required.
 */
const PROVIDERS: Record<
  string,
  { anyOf: readonly (readonly string[])[]; reported?: readonly string[]; optional?: readonly string[] }
> = {
  openai: { anyOf: [['OPENAI_API_KEY']], optional: ['OPENAI_BASE_URL', 'OPENAI_API_BASE', 'OPENAI_ORGANIZATION'] },
  anthropic: { anyOf: [['ANTHROPIC_API_KEY']], optional: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_BASE'] },
  gemini: {
    anyOf: [['GOOGLE_API_KEY'], ['GEMINI_API_KEY']],
    reported: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
    optional: ['GEMINI_API_BASE'],
  },
  azure: {
    anyOf: [['AZURE_API_BASE', 'AZURE_API_VERSION', 'AZURE_API_KEY']],
    optional: ['AZURE_AD_TOKEN'],
  },
  // Credentials may also come from the metadata server, so only the first call shows whether there are any.
  vertex_ai: {
    anyOf: [['VERTEXAI_PROJECT', 'VERTEXAI_LOCATION']],
    optional: ['VERTEXAI_CREDENTIALS', 'GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_OAUTH_ACCESS_TOKEN'],
  },
  bedrock: {
    anyOf: [
      ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
      ['AWS_BEARER_TOKEN_BEDROCK'],
      ['AWS_ROLE_ARN'],
      ['AWS_ROLE_NAME'],
      ['AWS_PROFILE'],
      ['AWS_WEB_IDENTITY_TOKEN_FILE'],
      ['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'],
      ['AWS_CONTAINER_CREDENTIALS_FULL_URI'],
    ],
    optional: [
      'AWS_SESSION_TOKEN',
      'AWS_REGION',
      'AWS_REGION_NAME',
      'AWS_DEFAULT_REGION',
      'AWS_BEDROCK_RUNTIME_ENDPOINT',
    ],
  },
  mistral: { anyOf: [['MISTRAL_API_KEY']], optional: ['MISTRAL_API_BASE'] },
  groq: { anyOf: [['GROQ_API_KEY']], optional: ['GROQ_API_BASE'] },
  deepseek: { anyOf: [['DEEPSEEK_API_KEY']], optional: ['DEEPSEEK_API_BASE'] },
  xai: { anyOf: [['XAI_API_KEY']], optional: ['XAI_API_BASE'] },
  cohere: { anyOf: [['COHERE_API_KEY']], optional: ['COHERE_API_BASE'] },
  openrouter: { anyOf: [['OPENROUTER_API_KEY']], optional: ['OPENROUTER_API_BASE'] },
  perplexity: { anyOf: [['PERPLEXITYAI_API_KEY']], optional: ['PERPLEXITY_API_KEY', 'PERPLEXITYAI_API_BASE'] },
  together_ai: { anyOf: [['TOGETHERAI_API_KEY']], optional: ['TOGETHER_API_KEY', 'TOGETHERAI_API_BASE'] },
  fireworks_ai: { anyOf: [['FIREWORKS_AI_API_KEY'], ['FIREWORKS_API_KEY']], optional: ['FIREWORKS_API_BASE'] },
  ollama: { anyOf: [['OLLAMA_API_BASE']], optional: ['OLLAMA_API_KEY'] },
  ollama_chat: { anyOf: [['OLLAMA_API_BASE']] },
}

const UNCHECKED = ['HOSTED_VLLM_API_BASE', 'HOSTED_VLLM_API_KEY', 'CUSTOM_OPENAI_API_BASE', 'CUSTOM_OPENAI_API_KEY']

/** Returns the variables to report if no set is complete; none when one is, or when the provider cannot be checked. */
export function missingVariables(provider: string, exists: (name: string) => boolean): readonly string[] {
  const variables = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined
  if (!variables || variables.anyOf.some((set) => set.every(exists))) return []
  return variables.reported ?? variables.anyOf[0] ?? []
}

export const providerVariables: readonly string[] = [
  ...new Set(
    Object.values(PROVIDERS).flatMap((variables) => [...variables.anyOf.flat(), ...(variables.optional ?? [])]),
  ),
  ...UNCHECKED,
]

/** Returns the provider of `<provider>/<model-id>`; empty for a name without a slash. */
export function providerOf(model: string): string {
  const slash = model.indexOf('/')
  return slash === -1 ? '' : model.slice(0, slash)
}
