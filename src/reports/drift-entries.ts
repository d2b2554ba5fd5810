import { bareName, withoutIndexes } from '../plan/addresses.ts'
import type { DriftFact } from '../plan/drift.ts'
import type { DriftReport } from './schemas.ts'

type Change = DriftReport['remediated_resources'][number]['changes'][number]

/** Entries of a list that name this address, in backticks or not, exactly or without the indexes of its instances. */
export function toldAbout<Entry extends { resource_address: string }>(
  entries: readonly Entry[],
  address: string,
): Entry[] {
  const named = (form: string) => entries.filter((entry) => bareName(entry.resource_address) === form)
  const exact = named(address)
  return exact.length > 0 ? exact : named(withoutIndexes(address))
}

/** A remediated attribute in the words of the plan. */
export const changeOf = ({ attribute, text }: DriftFact): Change => ({
  attribute_modified: attribute,
  change_description: 'The code was brought in line with the infrastructure.',
  details: [`Before: ${text}`],
  reason: '',
})
