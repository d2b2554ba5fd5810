import { type Conversation, call, type Reply } from '../conversation.ts'
import { changedLines, shownDiff } from '../diff.ts'

/** REPORT_GENERATOR of a drift round: reports the diff, and the blocks of the request. */
export function driftReport(conversation: Conversation): Reply {
  const { data } = conversation
  const remediated = findRemediated(shownDiff(conversation.data.get('branch diff')))
  const unreconciled = data.get('unreconciled drift')
  const exceptions = data.get('whitelisted exceptions')
  const status = unreconciled === undefined ? 'Succeeded' : remediated.length > 0 ? 'Partial' : 'Failed'
  const report = {
    summary:
      remediated.length > 0
        ? `The code of ${remediated.map((entry) => entry.resource_address).join(', ')} now says what really runs.`
        : 'No code had to be changed.',
    status,
    remediated_resources: remediated,
    unreconciled_drift:
      unreconciled === undefined
        ? []
        : [{ resource_address: '', reason: 'Left after the last attempt.', details: lines(unreconciled) }],
    whitelisted_exceptions: exceptions === undefined ? [] : [{ resource_address: '', change: exceptions, rule: '' }],
  }
  return { calls: [call('generate_engine_drift_report', report)] }
}

const lines = (text: string) => text.split('\n').filter((line) => line.trim() !== '')

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

const HAPPENED: Record<string, string> = { Creation: 'created', Modifications: 'updated', Destruction: 'destroyed' }

/** REPORT_GENERATOR of an apply: reports the result from the engine's output. */
export function applyReport({ query }: Conversation): Reply {
  const changes = [...query.matchAll(/^(\S.*?): (Creation|Modifications|Destruction) complete/gm)].map(
    ([, address = '', word = '']) => ({
      resource_type: address.split('.').at(-2) ?? '',
      resource_name: address,
      action: HAPPENED[word] ?? 'no_change',
      status: 'success',
      details: '',
      error_message: null,
    }),
  )
  const count = (action: string) => changes.filter((change) => change.action === action).length
  const error = /^[\s│|]*Error: (.+)$/m.exec(query)?.[1]
  const report = {
    summary: {
      total_resources: changes.length,
      created: count('created'),
      updated: count('updated'),
      destroyed: count('destroyed'),
      failed: error === undefined ? 0 : 1,
    },
    status: error === undefined ? 'Success' : changes.length > 0 ? 'Partial' : 'Failed',
    execution_summary:
      error === undefined
        ? `The engine created ${count('created')}, changed ${count('updated')} and destroyed ` +
          `${count('destroyed')} resources.`
        : `The engine stopped: ${error}. ${changes.length} resources had been changed before.`,
    resource_changes: changes,
    recommendations: error === undefined ? [] : ['Read the message of the engine, then ask for a new plan.'],
  }
  return { calls: [call('generate_engine_apply_report', report)] }
}

interface ImportResults {
  selected_resource_ids?: string[]
  excluded_resource_ids?: string[]
  import_results?: Record<'imported' | 'failed', { address?: string; resource_id?: string; error?: string | null }[]>
  plan_after_import?: string
  summary?: string
}

/** REPORT_GENERATOR of an import: repeats the lists of the query. */
export function importReport({ query }: Conversation): Reply {
  const results = parseResults(query)
  const { imported = [], failed = [] } = results.import_results ?? {}
  const selected = results.selected_resource_ids ?? []
  const entry =
    (status: 'imported' | 'failed') => (item: { address?: string; resource_id?: string; error?: string | null }) => ({
      resource_address: item.address ?? '',
      resource_id: item.resource_id ?? '',
      status,
      details: '',
      error_message: item.error ?? null,
    })
  const report = {
    summary: { selected: selected.length, imported: imported.length, failed: failed.length },
    status: imported.length === selected.length ? 'Succeeded' : imported.length > 0 ? 'Partial' : 'Failed',
    execution_summary:
      results.summary || `${imported.length} of ${selected.length} selected resources are managed now.`,
    imported_resources: [...imported.map(entry('imported')), ...failed.map(entry('failed'))],
    excluded_resources: (results.excluded_resource_ids ?? []).map((resourceId) => ({
      resource_id: resourceId,
      details: 'On the exception list.',
    })),
    state_alignment: /No changes\./.test(results.plan_after_import ?? '')
      ? 'Code and infrastructure agree: the plan after the import is empty.'
      : 'See the plan after the import.',
    recommendations: [],
  }
  return { calls: [call('generate_engine_import_report', report)] }
}

function parseResults(text: string): ImportResults {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as ImportResults
  } catch {
    return {}
  }
}
