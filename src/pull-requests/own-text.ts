import type { Mode, Turn } from '../base/vocabulary.ts'
import { countsInWords } from '../plan/change-list.ts'
import type { RoundRow } from './evidence/evidence.ts'
import { cut, plainTitle } from './evidence/markdown.ts'

/** Longest title that code writes, in UTF-16 units. */
const MAX_TITLE = 72
const MAX_REQUEST = 400
const MAX_REQUESTS = 10

/** The facts from which code writes a text. */
interface TextSource {
  firstRequest: string
  rounds: readonly RoundRow[]
  /** The conversation, masked. */
  history: readonly Turn[]
}

/** Titles for blank requests, which mean the whole root. */
const WITHOUT_WORDS: Record<Mode, string> = {
  generate: 'Changes of a session',
  drift: 'Bring the code in line with the infrastructure',
  import: 'Import existing resources',
  apply: 'Changes of a session',
}

/** Writes title and summary from requests and stored results, and says that no model did; not escaped yet. */
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

/** Describes the results of rounds, or the conversation for rounds of older releases. */
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

/** Cuts the first request to leave room for the numbers of later requests and changes. */
function writeTitle([first = '', ...later]: readonly string[], changes: number | undefined): string {
  const counted = [
    later.length > 0 && `${later.length} more request${later.length === 1 ? '' : 's'}`,
    changes !== undefined && `${changes} change${changes === 1 ? '' : 's'}`,
  ].filter(Boolean)
  const tail = counted.length > 0 ? ` (${counted.join(', ')})` : ''
  const words = first.replaceAll(/[`*_~<>[\]|\\]+/g, ' ').replace(/^[\s#>+-]+/, '')
  return `${plainTitle(words, MAX_TITLE - tail.length) || WITHOUT_WORDS.generate}${tail}`
}
