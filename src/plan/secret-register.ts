import { createMasker, type Masker } from '../base/masking.ts'
import { sensitiveLiterals } from './sensitive.ts'
import type { Plan } from './types.ts'

/** Grows with every plan of a round, so that a value stays hidden after the plan that named it is gone. */
export interface SecretRegister extends Masker {
  learn(plan: Plan): void
  /** Text forms of further secret values. */
  add(values: Iterable<string>): void
  /** Text forms that were learned and added, without those that were secret from the start. */
  learned(): string[]
}

/** @param known text forms of values that are secret from the start */
export function createSecretRegister(known: Iterable<string> = []): SecretRegister {
  const from_start = new Set(known)
  const literals = new Set(from_start)
  let masker = createMasker(literals)
  const add = (values: Iterable<string>) => {
    const before = literals.size
    for (const value of values) literals.add(value)
    if (literals.size > before) masker = createMasker(literals)
  }
  return {
    learn: (plan) => add(sensitiveLiterals(plan)),
    add,
    learned: () => [...literals].filter((literal) => !from_start.has(literal)),
    text: (text) => masker.text(text),
    json: (value) => masker.json(value),
  }
}
