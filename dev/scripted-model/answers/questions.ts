import { type Conversation, call, resultOf } from '../conversation.ts'
import { notRecorded } from '../examples.ts'
import { blockAddresses, searchBlocks, wordsOf } from './targets.ts'

const OPENING = /^\s*(what|which|who|how|why|where|when|is|are|does|do)\b/i
const COUNT = /\bhow many (\w+)/i

/**
 * True if a request is a question.
 * @param recorded true if work is recorded for it: "Can you add a queue?" is no question but requests that work
 */
export const isQuestion = (query: string, recorded: boolean): boolean =>
  OPENING.test(query) || (/\?\s*$/.test(query) && !recorded)

/** Makes the calls that are needed before a question can be answered. */
export const questionLookups = (query: string) =>
  COUNT.test(query) ? [searchBlocks()] : [call('read_file', { target_file: 'locals.tf' })]

/** Answers a question from the results: counts blocks, or quotes the service catalogue. */
export function answerQuestion({ query, steps }: Conversation): string {
  const counted = COUNT.exec(query)?.[1]
  return counted
    ? countBlocks(counted, resultOf(steps, 'bulk_grep_search') ?? '')
    : describeServices(resultOf(steps, 'read_file', 'locals.tf') ?? '')
}

function countBlocks(what: string, search: string): string {
  const [wanted = ''] = wordsOf(what)
  const addresses = blockAddresses(search).filter((address) => wordsOf(address.split('.').at(-1) ?? '').has(wanted))
  if (addresses.length === 0)
    return (
      `The code of this root describes no ${what.toLowerCase()}. The scripted model counts blocks by the words ` +
      'of their names only.'
    )
  const list = addresses.length === 1 ? addresses[0] : `${addresses.slice(0, -1).join(', ')} and ${addresses.at(-1)}`
  return `The code of this root describes ${addresses.length} ${what.toLowerCase()}: ${list}. Nothing was changed.`
}

function describeServices(locals: string): string {
  const services = [...locals.matchAll(/^ {4}(\w+) = \{\n([\s\S]*?)^ {4}\}/gm)].map((match) => ({
    name: match[1] ?? '',
    port: /port\s*=\s*(\d+)/.exec(match[2] ?? '')?.[1],
    public: /public\s*=\s*true/.test(match[2] ?? ''),
  }))
  if (services.length === 0) return notRecorded('generate')
  const list = services.map(
    (service) => `${service.name} (port ${service.port}, ${service.public ? 'public' : 'internal'})`,
  )
  return (
    `The code describes ${services.length} services: ${list.join(', ')}. They are listed in locals.tf. The ` +
    'scripted model answers questions from that list only.'
  )
}
