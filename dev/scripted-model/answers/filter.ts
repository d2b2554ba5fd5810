import { type Conversation, listRoot, oneCall, type Reply, readFiles, resultOf } from '../conversation.ts'
import { type Example, notRecorded } from '../examples.ts'
import { type Files, findRecording, obstacleTo } from '../recordings.ts'
import { blockAddresses, SEARCH_BLOCKS, wordsOf } from './targets.ts'

const FORBIDDEN =
  /\b(delete|destroy|drop|remove|wipe)\b.*\b(everything|all|network|production|databases?|state)\b|0\.0\.0\.0\/0|\b(public|internet)\b.*\b(admin|ssh|database)\b/i
const DRIFT = /\b(drift\w*|in line|in sync|reconcile|really (runs?|is|are)|by hand|reality)\b/i
const IMPORT = /\b(import|take over|adopt|under management)\b/i

const verdict = (status: boolean, explanation: string): Reply => oneCall('requests_filter', { status, explanation })

/** Returns the mode whose rules the filter has. */
const routeOf = (system: string): Example['route'] =>
  /session remediates drift/.test(system) ? 'drift' : /session imports existing/.test(system) ? 'import' : 'generate'

/** REQUESTS_FILTER: lists the root, reads the files that the recording needs, then decides. */
export function filterRequest(conversation: Conversation): Reply {
  const { query, system, steps, tools } = conversation
  // Without tools there is nothing to read.
  const isUnread = steps.length === 0 && tools.has('list_dir')
  if (FORBIDDEN.test(query))
    return verdict(
      false,
      'This request would destroy shared infrastructure or open it to everyone, which the guidelines forbid. ' +
        'Name the single resource that is no longer needed, and why.',
    )
  const route = routeOf(system)
  const recording = route === 'generate' ? findRecording(query) : null
  if (isQuestion(query, recording !== null))
    return isUnread ? questionLookup(query) : verdict(false, answerQuestion(conversation))
  if (route === 'drift' && DRIFT.test(query))
    return verdict(true, 'The request asks to bring code in line with the infrastructure.')
  if (route === 'import' && IMPORT.test(query)) return verdict(true, 'The request asks to import resources that exist.')
  if (!recording) return verdict(false, notRecorded(route))
  const files = recording.reads
  if (isUnread) return { calls: [...listRoot.calls, ...readFiles(files).calls] }
  const shown = shownFiles(conversation)
  const read: Files = Object.fromEntries(files.map((file) => [file, resultOf(steps, 'read_file', file) ?? shown[file]]))
  const obstacle = obstacleTo(recording, resultOf(steps, 'list_dir') ?? Object.keys(shown).join('\n'), read)
  return obstacle
    ? verdict(false, obstacle)
    : verdict(true, 'The request asks for a bounded change that the guidelines allow.')
}

const OPENING = /^\s*(what|which|who|how|why|where|when|is|are|does|do)\b/i
const COUNT = /\bhow many (\w+)/i

/**
 * True if a request is a question.
 * @param recorded true if work is recorded for it: "Can you add a queue?" is no question but requests that work
 */
const isQuestion = (query: string, recorded: boolean): boolean =>
  OPENING.test(query) || (/\?\s*$/.test(query) && !recorded)

/** Makes the call that is needed before a question can be answered. */
const questionLookup = (query: string): Reply => (COUNT.test(query) ? SEARCH_BLOCKS : readFiles(['locals.tf']))

/** Answers a question from the results: counts blocks, or quotes the service catalogue. */
function answerQuestion(conversation: Conversation): string {
  const { query, steps } = conversation
  const counted = COUNT.exec(query)?.[1]
  const shown = shownFiles(conversation)
  return counted
    ? countBlocks(counted, resultOf(steps, 'bulk_grep_search') ?? linesOf(shown))
    : describeServices(resultOf(steps, 'read_file', 'locals.tf') ?? shown['locals.tf'] ?? '')
}

/** Reads the files of a small repository, which the query shows whole. */
function shownFiles({ data }: Conversation): Files {
  const parts = (data.get('files of the repository') ?? '').split(/^--- (\S+)(?: \(read-only\))? ---\n/m).slice(1)
  return Object.fromEntries(
    parts.flatMap((part, index) => (index % 2 === 0 ? [[part, `${parts[index + 1]?.trimEnd()}\n`]] : [])),
  )
}

/** Writes lines as a search shows them. */
const linesOf = (files: Files): string =>
  Object.entries(files)
    .flatMap(([path, text = '']) => text.split('\n').map((line, index) => `${path}:${index + 1}:${line}`))
    .join('\n')

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
