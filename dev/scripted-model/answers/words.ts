import { itemsOf, memberOf } from '../../../src/base/json.ts'
import { bulletsIn, type Conversation, jsonIn, oneCall, type Reply } from '../conversation.ts'
import { findRecording, titleOf as recordedTitle } from '../recordings.ts'
import { driftTask } from './drift.ts'

const shorten = (text: string, limit: number): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= limit ? line : `${line.slice(0, limit - 3).trimEnd()}...`
}

/** STATUS_UPDATE: writes one sentence about the text of the query. */
export const statusText = ({ query, data }: Conversation): Reply => ({
  text: sentenceAbout(data.get('status') ?? query),
})

function sentenceAbout(query: string): string {
  const diagnostic = /Error: ([^\n]+)/.exec(query)?.[1]
  if (diagnostic)
    return `The engine refused the code (${shorten(diagnostic, 80).replace(/\.$/, '')}); it is being corrected.`
  const drift = driftTask(toOperationList(query))?.map(({ address }) => address)
  if (drift) return `What really runs is written into the code of ${shorten(drift.join(', '), 120)}.`
  const ids = bulletsIn(query).filter((entry) => entry.startsWith('arn:'))
  if (ids.length > 0) return `Blocks are written for ${ids.length} existing resources.`
  return `Working on: ${shorten(query, 160)}`
}

/** PR_GENERATOR: writes title and description from what the session did. */
export function pullRequest({ query, history }: Conversation): Reply {
  // Turns that answered a question changed nothing, so they are left out.
  const turns = [...history, ...turnsIn(query)].filter((turn) => titleOf(turn.user) !== null)
  const title = titleOf(turns[0]?.user ?? query) ?? 'Changes of this session'
  const done = turns.map((turn) => `- ${turn.assistant.replaceAll('\n', '\n- ')}`).join('\n') || shorten(query, 2000)
  const description =
    `## What changes\n\n${done}\n\n## How it was made\n\nWritten by the scripted model of the embedded stack, ` +
    'validated and planned by the engine.'
  return oneCall('generate_pull_request', { title, description })
}

/** Turns operations, which a conversation has one in a line, into the list of a task. */
const toOperationList = (text: string): string => (text.startsWith('- ') ? text : `- ${text.split('\n').join('\n- ')}`)

/** Returns the title for the work that a turn requested; null if none is recorded for it. */
function titleOf(request: string): string | null {
  const drift = driftTask(toOperationList(request))?.map(({ address }) => address.split('.').at(-1))
  if (drift) return `Bring the code of ${shorten(drift.join(', '), 120)} in line with the infrastructure`
  const ids = bulletsIn(request).filter((entry) => entry.startsWith('arn:'))
  if (ids.length > 0) return `Import ${ids.length} existing resources`
  const recording = findRecording(request)
  return recording && recordedTitle(recording)
}

/** Reads the turns of a conversation from a JSON list in the query. */
const turnsIn = (query: string): Conversation['history'] =>
  itemsOf(jsonIn(query, '[')).flatMap((turn) => {
    const assistant = memberOf(turn, 'assistant')
    return typeof assistant === 'string' ? [{ user: String(memberOf(turn, 'user')), assistant }] : []
  })

/** PROMPT_COMPOSITOR: chooses the templates of the catalogue that the request names. */
export function compose({ query, data, system }: Conversation): Reply {
  const words = new Set((data.get('request') ?? query).toLowerCase().match(/[a-z]{4,}/g) ?? [])
  const names = [...system.matchAll(/^- `([a-z0-9_]+)`:/gm)].map(([, name = '']) => name)
  const templates = names.filter((name) => name.split('_').some((word) => words.has(word)))
  const explanation = 'Templates that the request names.'
  return oneCall('construct_information', { templates, abbreviations: [], explanation })
}
