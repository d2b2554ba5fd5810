import type { ChatMessage, ChatTool } from '../../dev/chat-completions.ts'
import { type HandRequest, messageKeys } from './answer.ts'

/** The parts of an earlier call that later ones are compared with. */
interface Shown {
  call: number
  request: HandRequest
  keys: string[]
}

/** Returns a function that renders calls, with references to what it has shown in earlier ones. */
export function createReader() {
  const shown: Shown[] = []
  return (call: number, request: HandRequest): string => {
    const keys = messageKeys(request)
    const text = write(call, request, toolsText(request, shown), messagesText(request, keys, shown))
    shown.push({ call, request, keys })
    return text
  }
}

/** Renders a whole request, with nothing left out. */
export const readWhole = (call: number, request: HandRequest): string =>
  write(call, request, definitions(request.tools), request.messages.map(messageText).join('\n'))

const write = (call: number, { model, chain, messages }: HandRequest, tools: string, said: string): string =>
  [`CALL ${call}: ${chain}, model ${model}, ${messages.length} messages`, '', tools, '', said].join('\n')

/** Renders the definitions of the tools, or the number of an earlier call with the same ones. */
function toolsText({ tools, chain }: HandRequest, shown: readonly Shown[]): string {
  const names = tools.map(({ name }) => name).join(', ') || 'none'
  const same = shown.find(({ request }) => JSON.stringify(request.tools) === JSON.stringify(tools))
  if (same) return `TOOLS as in call ${same.call}: ${names}`
  const before = shown.findLast(({ request }) => request.chain === chain)
  if (!before) return definitions(tools)
  const known = new Set(before.request.tools.map((tool) => JSON.stringify(tool)))
  const gone = before.request.tools.map(({ name }) => name).filter((name) => !tools.some((tool) => tool.name === name))
  const fresh = tools.filter((tool) => !known.has(JSON.stringify(tool)))
  return [
    `TOOLS have changed since call ${before.call}: ${names}`,
    ...(gone.length > 0 ? [`no longer there: ${gone.join(', ')}`] : []),
    ...(fresh.length > 0 ? [`new or changed:\n${fresh.map(definition).join('\n')}`] : []),
  ].join('\n')
}

const definitions = (tools: readonly ChatTool[]): string => ['TOOLS', ...tools.map(definition)].join('\n')
const definition = ({ name, description, parameters }: ChatTool): string =>
  `- ${name}: ${description}\n  arguments: ${JSON.stringify(parameters)}`

/** Renders the messages that the nearest earlier call does not have. */
function messagesText({ model, messages }: HandRequest, keys: readonly string[], shown: readonly Shown[]): string {
  const nearest = shown
    .filter(({ request }) => request.model === model)
    .map((earlier) => ({ call: earlier.call, same: commonCount(earlier.keys, keys) }))
    .reduce((best, one) => (one.same >= best.same ? one : best), { call: 0, same: 0 })
  const text = messages.slice(nearest.same).map(messageText).join('\n')
  if (nearest.same === 0) return text
  const what = nearest.same === 1 ? 'The first message is' : `The first ${nearest.same} messages are`
  return `(${what} as in call ${nearest.call}; --show ${nearest.call} prints them.)\n${text}`
}

function commonCount(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((key, index) => key !== b[index])
  return Math.min(differs < 0 ? a.length : differs, b.length)
}

function messageText({ role, text, answers, calls }: ChatMessage): string {
  const calling = calls.map(({ id, name, arguments: given }) => `[calls ${name} as ${id}] ${given}`)
  return [`=== ${role}${answers === null ? '' : ` (answer to ${answers})`} ===`, text ?? '', ...calling]
    .filter((line) => line !== '')
    .join('\n')
}
