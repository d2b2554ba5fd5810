import { type Conversation, call, type Reply, resultOf } from './conversation.ts'
import { changedAddresses, diffText, touches } from './diff.ts'

const operations = (list: string[], explanation: string): Reply => ({
  calls: [call('report_decomposed_task_operations', { operations: list, explanation })],
})

/** TARGET_GENERATOR: reads the diff history, names the blocks that it touches. */
export function targets({ steps }: Conversation): Reply {
  const result = resultOf(steps, 'diff_history')
  if (result === undefined) return { calls: [call('diff_history', { explanation: 'To see what this session changed.' })] }
  const addresses = changedAddresses(diffText(result))
  return {
    calls: [
      call('generate_engine_targets', {
        targets: addresses ?? [],
        explanation: addresses
          ? 'The blocks that the branch adds or changes.'
          : 'The branch changes shared code, so everything is planned.',
      }),
    ],
  }
}

/** Splitter and filters share a sentinel; the tools beside it tell them apart. */
export function decompose(conversation: Conversation): Reply {
  const { tools, query } = conversation
  if (tools.has('web_search')) return splitDrift(query)
  return tools.has('diff_history') || conversation.steps.length > 0 ? dropOwnChanges(conversation) : operations(stringsOf(query), '')
}

function splitDrift(query: string): Reply {
  const list = parseList(query).map((entry) => {
    const { address, action, changes } = entry as { address?: string; action?: string; changes?: unknown }
    return `${address}: ${action}${changes === undefined ? '' : ` with ${JSON.stringify(changes)}`}`
  })
  return operations(list, 'One operation for each address.')
}

function dropOwnChanges({ query, steps }: Conversation): Reply {
  const result = resultOf(steps, 'diff_history')
  if (result === undefined) return { calls: [call('diff_history', { explanation: 'To tell drift from the changes of this session.' })] }
  const diff = diffText(result)
  const list = stringsOf(query).filter((operation) => !touches(diff, operation))
  return operations(list, 'Dropped what only undoes the changes of this session.')
}

const stringsOf = (query: string): string[] => parseList(query).map((entry) => (typeof entry === 'string' ? entry : JSON.stringify(entry)))

/** The JSON array in a text. */
function parseList(text: string): unknown[] {
  const start = text.indexOf('[')
  try {
    const value: unknown = JSON.parse(text.slice(start, text.lastIndexOf(']') + 1))
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
