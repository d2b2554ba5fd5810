import { itemsOf, memberOf } from '../../../src/base/json.ts'
import { changedLines, shownDiff } from '../blocks.ts'
import { type Conversation, jsonIn, oneCall, type Reply } from '../conversation.ts'

/** REPORT_GENERATOR of a drift round: reports the diff. Code adds what is left and what is excepted. */
export function driftReport({ data }: Conversation): Reply {
  const remediated = findRemediated(shownDiff(data.get('branch diff')))
  const addresses = remediated.map((entry) => entry.resource_address).join(', ')
  const report = {
    summary: addresses ? `The code of ${addresses} now says what really runs.` : 'No code had to be changed.',
    status: !data.has('unreconciled drift') ? 'Succeeded' : addresses ? 'Partial' : 'Failed',
    remediated_resources: remediated,
  }
  return oneCall('generate_engine_drift_report', report)
}

/** Finds the changed attributes of each block, with their values before and after. */
function findRemediated(diff: string) {
  const byAddress = new Map<string, { file: string; before: Map<string, string>; after: Map<string, string> }>()
  for (const { file, address, sign, text } of changedLines(diff)) {
    const [, name, value] = /^"?([\w-]+)"? *= *(.*)$/.exec(text) ?? []
    if (!address || name === undefined || value === undefined) continue
    const entry = byAddress.get(address) ?? { file, before: new Map(), after: new Map() }
    entry[sign === '-' ? 'before' : 'after'].set(pathOf(address, name), value)
    byAddress.set(address, entry)
  }
  return [...byAddress].map(([resource_address, { file, before, after }]) => ({
    file_path: file,
    resource_address,
    changes: [...after].map(([attribute_modified, value]) => ({
      attribute_modified,
      change_description: `${before.get(attribute_modified) ?? 'unset'} became ${value}`,
      details: [],
      reason: 'The infrastructure was changed outside of the code.',
    })),
  }))
}

/** Returns the path of an attribute. The samples' resources keep all values in one argument, which a diff may omit. */
const pathOf = (address: string, name: string): string =>
  address.startsWith('terraform_data.') && name !== 'input' && name !== 'triggers_replace' ? `input.${name}` : name

/** REPORT_GENERATOR of an apply: tells the counts in the engine's output. Code lists the changes. */
export function applyReport({ query }: Conversation): Reply {
  const done = [...query.matchAll(/^\S.*?: (Creation|Modifications|Destruction) complete/gm)]
  const count = (word: string) => done.filter((match) => match[1] === word).length
  const counts = { created: count('Creation'), updated: count('Modifications'), destroyed: count('Destruction') }
  const error = /^[\s│|]*Error: (.+)$/m.exec(query)?.[1]
  const { created, updated, destroyed } = counts
  const report =
    error === undefined
      ? {
          summary: counts,
          status: 'Success',
          execution_summary: `The engine created ${created}, changed ${updated} and destroyed ${destroyed} resources.`,
        }
      : {
          summary: { ...counts, failed: 1 },
          status: done.length > 0 ? 'Partial' : 'Failed',
          execution_summary: `The engine stopped: ${error}. ${done.length} resources had been changed before.`,
          recommendations: ['Read the message of the engine, then ask for a new plan.'],
        }
  return oneCall('generate_engine_apply_report', report)
}

/** REPORT_GENERATOR of an import: tells the counts in the results of the query. Code lists them. */
export function importReport({ query }: Conversation): Reply {
  const results = jsonIn(query, '{')
  const selected = itemsOf(memberOf(results, 'selected_resource_ids')).length
  const imported = itemsOf(memberOf(memberOf(results, 'import_results'), 'imported')).length
  return oneCall('generate_engine_import_report', {
    summary: { selected, imported },
    status: imported === selected ? 'Succeeded' : imported > 0 ? 'Partial' : 'Failed',
    execution_summary: memberOf(results, 'summary') || `${imported} of ${selected} selected resources are managed now.`,
  })
}
