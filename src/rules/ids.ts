/** Returns the ids of all rules. Most processes never need them, so the rules are loaded only here. */
export const readRuleIds = async (): Promise<string[]> => (await import('./index.ts')).RULES.map(({ id }) => id)
