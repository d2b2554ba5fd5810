import { readFileSync } from 'node:fs'
import { type Plan, parsePlan } from '../../src/plan/plan.ts'

const read = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')

/** `show -json` and the text of one real plan of terraform 1.11 over `terraform_data`. */
export const changesJson = read('changes.json')
export const changesText = read('changes.txt')

interface FixtureChange {
  address?: string
  type?: string
  mode?: string
  deposed?: string
  previous_address?: string
  actions: string[]
  /** Further members of `change`: the values before and after, and what is said of them. */
  [member: string]: unknown
}

/** Makes a plan from members of its document. */
export const planWith = (members: object): Plan => parsePlan(JSON.stringify({ format_version: '1.2', ...members }))

/** Makes a plan in the documented format from the parts that matter to a test. */
export function planOf(changes: FixtureChange[], rest: Record<string, unknown> = {}): Plan {
  return planWith({ resource_changes: changes.map(toResourceChange), ...rest })
}

function toResourceChange({ address, type, mode, deposed, previous_address, ...change }: FixtureChange, index: number) {
  const kind = type ?? 'terraform_data'
  return {
    address: address ?? `${kind}.item${index}`,
    mode: mode ?? 'managed',
    type: kind,
    name: `item${index}`,
    deposed,
    previous_address,
    change,
  }
}
