const LANGUAGES: [RegExp, string][] = [
  [/\.(tf|tfvars|hcl|tofu|tfbackend)$/i, 'hcl'],
  [/\.(json|tfstate)$/i, 'json'],
  [/\.ya?ml$/i, 'yaml'],
]

/** The language of a file by its name; null when it has no colours. */
export const languageOf = (name: string): string | null =>
  LANGUAGES.find(([pattern]) => pattern.test(name))?.[1] ?? null
