/** Both names that the provider has for a kind. */
export const both = (...names: string[]): string[] =>
  names.flatMap((name) => [`kubernetes_${name}`, `kubernetes_${name}_v1`])
