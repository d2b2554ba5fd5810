import { type Conversation, call, dataBlocks, type Reply } from '../conversation.ts'
import { shownDiff, touches } from '../diff.ts'
import { selectResources } from './import.ts'

const operations = (list: string[], explanation: string): Reply => ({
  calls: [call('report_decomposed_task_operations', { operations: list, explanation })],
})

/**
 * Answers splitter and filters, which share a result tool and differ in their data, their other tools and their rules.
 */
export function decompose(conversation: Conversation): Reply {
  const { tools, query, data, system, steps } = conversation
  const identifiers = dataBlocks(system).get('identifiers')
  if (identifiers !== undefined) {
    const { selected, explanation } = selectResources(identifiers, query)
    return operations(selected, explanation)
  }
  if (data.has('drift document')) return splitDrift(query)
  return tools.has('diff_history') || steps.length > 0 ? dropOwnChanges(conversation) : operations(stringsOf(query), '')
}

/** Describes each operation in words, followed by its values as JSON. */
function splitDrift(query: string): Reply {
  const list = parseList(query).map((entry) => {
    const { address, action, changes } = entry as { address?: string; action?: string; changes?: unknown }
    return `${address}: ${action}${changes === undefined ? '' : ` with ${JSON.stringify(changes)}`}`
  })
  return operations(list, 'One operation for each address.')
}

function dropOwnChanges(conversation: Conversation): Reply {
  const diff = shownDiff(conversation.data.get('branch diff'))
  const list = stringsOf(conversation.query).filter((operation) => !touches(diff, operation))
  return operations(list, 'Dropped what only undoes the changes of this session.')
}

const stringsOf = (query: string): string[] =>
  parseList(query).map((entry) => (typeof entry === 'string' ? entry : JSON.stringify(entry)))

/** Finds the JSON array in a text. */
function parseList(text: string): unknown[] {
  const start = text.indexOf('[')
  try {
    const value: unknown = JSON.parse(text.slice(start, text.lastIndexOf(']') + 1))
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
