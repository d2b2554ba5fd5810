import type { Plan } from './plan.ts'
import { plannedChanges } from './planned-changes.ts'

/** Types of the engine and of helper providers, which create nothing in a cloud. */
const UTILITY = /^(?:terraform_data|null_resource|(?:random|time)_\w+|local_(?:sensitive_)?file)$/

/** Returns the distinct types that the plan changes. */
export const changedTypes = (plan: Plan): string[] => [...new Set(plannedChanges(plan).map(({ type }) => type))]

/** Reports whether one of these types may exist in a cloud. */
export const touchesCloud = (types: readonly string[]): boolean => types.some((type) => !UTILITY.test(type))
