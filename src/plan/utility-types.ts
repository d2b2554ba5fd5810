import type { Plan } from './plan.ts'
import { plannedChanges } from './planned-changes.ts'

/** Types of the engine itself and of its small helpers, which make nothing in any cloud. */
const UTILITY = /^(?:terraform_data|null_resource|(?:random|time)_\w+|local_(?:sensitive_)?file)$/

/** The types of everything that the plan changes, each once. */
export const changedTypes = (plan: Plan): string[] => [...new Set(plannedChanges(plan).map(({ type }) => type))]

/** Reports whether one of these types may stand for something in a cloud. */
export const touchesCloud = (types: readonly string[]): boolean => types.some((type) => !UTILITY.test(type))
