import { type Conversation, call, type Reply, resultOf } from './conversation.ts'
import { EXAMPLES, type Files, findRecording } from './recordings.ts'

const QUESTION = /\?\s*$|^\s*(what|which|who|how|why|where|when|is|are|does|do)\b/i
const FORBIDDEN =
  /\b(delete|destroy|drop|remove|wipe)\b.*\b(everything|all|network|production|databases?|state)\b|0\.0\.0\.0\/0|\b(public|internet)\b.*\b(admin|ssh|database)\b/i

const UNKNOWN = [
  'This is the scripted model of the embedded stack: it plays recorded requests only, and there is none for this one.',
  `Recorded is for example: "${EXAMPLES[0]}"`,
  'For requests of your own start the stack with a real model, for example with ANTHROPIC_API_KEY or OPENAI_API_KEY set.',
].join(' ')

const verdict = (status: boolean, explanation: string): Reply => ({ calls: [call('requests_filter', { status, explanation })] })

/** REQUESTS_FILTER: looks at the root, reads what the recording needs, then decides. */
export function filterRequest({ query, steps }: Conversation): Reply {
  if (FORBIDDEN.test(query))
    return verdict(
      false,
      'This request would destroy shared infrastructure or open it to everyone, which the guidelines forbid. Name the single resource that is no longer needed, and why.',
    )
  const recording = findRecording(query)
  const question = QUESTION.test(query) && !recording
  if (!recording && !question) return verdict(false, UNKNOWN)
  const files = question ? ['locals.tf'] : (recording?.reads(query) ?? [])
  if (steps.length === 0)
    return {
      calls: [call('list_dir', { relative_workspace_path: '.' }), ...files.map((target_file) => call('read_file', { target_file }))],
    }
  const read: Files = Object.fromEntries(files.map((file) => [file, resultOf(steps, 'read_file', file)]))
  if (!recording) return verdict(false, answerQuestion(read['locals.tf'] ?? ''))
  const obstacle = recording.obstacle(query, resultOf(steps, 'list_dir') ?? '', read)
  return obstacle ? verdict(false, obstacle) : verdict(true, 'The request asks for a bounded change that the guidelines allow.')
}

/** Answers from the service catalogue that was read, whatever the question was about. */
function answerQuestion(locals: string): string {
  const services = [...locals.matchAll(/^ {4}(\w+) = \{\n([\s\S]*?)^ {4}\}/gm)].map((match) => ({
    name: match[1] ?? '',
    port: /port\s*=\s*(\d+)/.exec(match[2] ?? '')?.[1],
    public: /public\s*=\s*true/.test(match[2] ?? ''),
  }))
  if (services.length === 0) return UNKNOWN
  const list = services.map((service) => `${service.name} (port ${service.port}, ${service.public ? 'public' : 'internal'})`)
  return `The code describes ${services.length} services: ${list.join(', ')}. They are listed in locals.tf. The scripted model answers questions from that list only.`
}
