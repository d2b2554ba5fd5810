import type { Mode, Turn } from '../base/vocabulary.ts'
import { countsInWords } from '../plan/change-list.ts'
import type { RoundRow } from './evidence/evidence.ts'
import { cut, plainTitle } from './evidence/markdown.ts'

/** Longest title of a pull request that code writes, in UTF-16 units. */
const MAX_TITLE = 72
const MAX_REQUEST = 400
const MAX_REQUESTS = 10

/** What is known of a session when no model writes about it. */
interface TextSource {
  /** The first request, masked. */
  firstRequest: string
  /** Masked, oldest first. */
  rounds: readonly RoundRow[]
  /** The conversation, masked. */
  history: readonly Turn[]
}

/** Requests may be blank where a whole root is meant. */
const WITHOUT_WORDS: Record<Mode, string> = {
  generate: 'Changes of a session',
  drift: 'Bring the code in line with the infrastructure',
  import: 'Import existing resources',
  apply: 'Changes of a session',
}

/**
 * Title and summary of a pull request as code writes them, from the requests and from what the rounds stored. The
 * summary says that no model wrote it. Like the words of a model it is still to be escaped.
 */
export function writeOwnText({ firstRequest, rounds, history }: TextSource): { title: string; summary: string } {
  const completed = rounds.filter(({ mode, status }) => mode !== 'apply' && status === 'completed')
  const changes = completed.findLast(({ result }) => result?.changes)?.result?.changes
  const requests = completed.map(({ query, mode }) => (query.trim() === '' ? WITHOUT_WORDS[mode] : query))
  const asked = requests.length > 0 ? requests : [firstRequest]
  const parts = [
    'No model wrote this summary; code put it together from what the session stored.',
    `Requested:\n${asked.slice(0, MAX_REQUESTS).map(toItem).join('\n')}`,
    asked.length > MAX_REQUESTS && `and ${asked.length - MAX_REQUESTS} more requests.`,
    changes && `The reviewed plan: ${countsInWords(changes.counts)}.`,
    ...tellWhatWasBuilt(completed, history),
  ]
  return { title: writeTitle(asked, changes?.total), summary: parts.filter(Boolean).join('\n\n') }
}

/** What was built, from the results of the rounds; from the conversation where rounds of older releases have none. */
function tellWhatWasBuilt(completed: readonly RoundRow[], history: readonly Turn[]): string[] {
  const built = completed.flatMap(({ number, result }) =>
    result?.summary
      ? [`Built in round ${number}, in the words of the model that wrote the code:\n${result.summary}`]
      : [],
  )
  if (built.length > 0) return built
  return history.filter(({ assistant }) => assistant !== '').map(({ assistant }) => `Reported:\n${assistant}`)
}

const toItem = (request: string): string => `- ${cut(request.replaceAll(/\s+/g, ' ').trim(), MAX_REQUEST)}`

/** The first request, cut to what the number of later ones and of changes leaves room for. */
function writeTitle([first = '', ...later]: readonly string[], changes: number | undefined): string {
  const counted = [
    later.length > 0 && `${later.length} more request${later.length === 1 ? '' : 's'}`,
    changes !== undefined && `${changes} change${changes === 1 ? '' : 's'}`,
  ].filter(Boolean)
  const tail = counted.length > 0 ? ` (${counted.join(', ')})` : ''
  const words = first.replaceAll(/[`*_~<>[\]|\\]+/g, ' ').replace(/^[\s#>+-]+/, '')
  return `${plainTitle(words, MAX_TITLE - tail.length) || WITHOUT_WORDS.generate}${tail}`
}
