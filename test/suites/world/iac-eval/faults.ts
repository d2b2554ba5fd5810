import type { Scenario } from '../../../../eval/scenario/scenario.ts'
import { fits } from '../../../../src/rules/intent/glob.ts'
import type { Scalar } from '../../../../src/rules/intent/statement.ts'
import type { Reference } from './cases.ts'

/** A fault that can be planted in a solution. */
export const FAULTS = ['removed', 'other attribute', 'other type'] as const
export type Fault = (typeof FAULTS)[number]

const BLOCK = /^(resource|output|check) "([^"]+)"(?: "([^"]+)")? \{\n(?:[\s\S]*?^)?\}\n?/gm
const PLANTED = 'resource "terraform_data" "planted" {\n  input = "planted"\n}\n'

/** The solution with one fault. Null where the scenario says nothing that this fault would break. */
export function plant(fault: Fault, reference: Reference): string | null {
  if (fault === 'other attribute') return otherAttribute(reference)
  const block = removable(reference)
  if (block === null) return null
  const left = reference.code.replace(block.text, '')
  if (fault === 'removed') return left
  // In place of a `terraform_data` the planted one would be no other type.
  return block.kind === 'resource' && block.first !== 'terraform_data' ? `${left}\n${PLANTED}` : null
}

/** A block of a solution with its labels. */
interface Block {
  text: string
  kind: string
  first: string
  name: string
}

/** The last block that is asked for, preferably one that no other names: without that one the rest still works. */
function removable({ scenario, code }: Reference): Block | null {
  const blocks = [...code.matchAll(BLOCK)].map(([text, kind = '', first = '', name = '']) => ({
    ...{ text, kind, first, name },
  }))
  const asked = blocks.filter((block) => isAsked(block, scenario))
  const alone = asked.filter(
    ({ text, kind, first, name }) => kind !== 'resource' || !code.replace(text, '').includes(`${first}.${name}`),
  )
  return alone.at(-1) ?? asked.at(-1) ?? null
}

function isAsked({ kind, first }: Block, { expect: { plan, files } }: Scenario): boolean {
  if (kind === 'check') return files.some(({ contains }) => contains?.includes(`"${first}"`))
  if (kind === 'output') return plan.some((each) => each.kind === 'output_exists' && each.name === first)
  return plan.some((each) => each.kind === 'resource_count' && each.value > 0 && fits(each.type, first))
}

/** Another value of an attribute that is asked for: one that the engine still takes, if there is any. */
function otherAttribute({ scenario, code }: Reference): string | null {
  const asked = scenario.expect.plan.flatMap((statement) => {
    if (statement.kind === 'resource_count') return statement.where
    return statement.kind === 'attribute' ? [statement] : []
  })
  const order = ['boolean', 'number', 'string']
  const wanted = asked
    .flatMap(({ op, path, value }) => ((op === 'eq' || op === 'ne') && value !== undefined ? [{ path, value }] : []))
    .sort((a, b) => order.indexOf(typeof a.value) - order.indexOf(typeof b.value))
  for (const { path, value } of wanted) {
    const changed = code.replace(assignment(path.split('.').at(-1) ?? path, value), `$1${other(value)}`)
    if (changed !== code) return changed
  }
  return null
}

function assignment(key: string, value: Scalar): RegExp {
  const literal = String(value).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^( *${key} *= *)"?${literal}"?$`, 'm')
}

function other(value: Scalar): string {
  if (typeof value === 'boolean') return String(!value)
  if (typeof value === 'number') return String(value + 1)
  // A range of addresses stays one.
  const range = /^(\d+)\.(.*\/\d+)$/.exec(value)
  return JSON.stringify(range ? `${Number(range[1]) + 1}.${range[2]}` : `${value}-planted`)
}
