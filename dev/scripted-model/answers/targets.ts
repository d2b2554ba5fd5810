import { addressOf, changedAddresses, shownDiff } from '../blocks.ts'
import { type Conversation, oneCall, type Reply, resultOf } from '../conversation.ts'

const answer = (targets: string[], explanation: string): Reply =>
  oneCall('generate_engine_targets', { targets, explanation })

/** TARGET_GENERATOR: returns the targets of a session, or those of a request about drift. */
export const targets = (conversation: Conversation): Reply =>
  /request about drift/.test(conversation.system) ? driftTargets(conversation) : sessionTargets(conversation)

/** Reads the diff of the session in the query, or requests it, and returns the blocks that it changes. */
function sessionTargets({ data, steps }: Conversation): Reply {
  const changes = data.get('changes of this session')
  const shown = changes ?? resultOf(steps, 'diff_history')
  if (shown === undefined) return oneCall('diff_history', { explanation: 'To see what this session changed.' })
  const addresses = changedAddresses(shownDiff(shown))
  return answer(
    addresses ?? [],
    addresses
      ? 'The blocks that the branch adds, changes or removes.'
      : 'The branch changes shared code, so everything is planned.',
  )
}

/** Searches the blocks of the root and returns those whose whole name is in the request. */
function driftTargets({ query, steps }: Conversation): Reply {
  const result = resultOf(steps, 'bulk_grep_search')
  if (result === undefined) return SEARCH_BLOCKS
  const addresses = matchingAddresses(blockAddresses(result), query)
  return answer(
    addresses,
    addresses.length > 0
      ? `The request names ${addresses.join(', ')}.`
      : 'No block of this root has a name whose words all stand in the request. Name the block, for example ' +
          '"the flow logs" for terraform_data.flow_logs.',
  )
}

export const SEARCH_BLOCKS: Reply = oneCall('bulk_grep_search', {
  searches: [{ query: '^(resource|module) "', include_pattern: '*.tf', case_sensitive: true }],
  explanation: 'To see which blocks there are.',
})

/** Reads the addresses of blocks in the root from the answer of a search. */
export const blockAddresses = (result: string): string[] =>
  result.split('\n').flatMap((line) => {
    const [, file = '', text = ''] = /^([^:]+):\d+:(.*)$/.exec(line) ?? []
    const address = file.includes('/') ? null : addressOf(text)
    return address ? [address] : []
  })

/** Selects the addresses whose name is in the text, word by word, in singular or plural. */
function matchingAddresses(addresses: readonly string[], text: string): string[] {
  const words = wordsOf(text)
  return addresses.filter((address) => [...wordsOf(address.split('.').at(-1) ?? '')].every((word) => words.has(word)))
}

/** Returns the words of a text in lower case, without a plural ending. */
export const wordsOf = (text: string): Set<string> =>
  new Set(
    (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map((word) => (word.length > 3 ? word.replace(/s$/, '') : word)),
  )
