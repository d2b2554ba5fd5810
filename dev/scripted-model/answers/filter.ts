import { type Conversation, call, type Reply, resultOf } from '../conversation.ts'
import { type Example, notRecorded } from '../examples.ts'
import { type Files, findRecording, obstacleTo } from '../recordings.ts'
import { answerQuestion, isQuestion, questionLookups } from './questions.ts'

const FORBIDDEN =
  /\b(delete|destroy|drop|remove|wipe)\b.*\b(everything|all|network|production|databases?|state)\b|0\.0\.0\.0\/0|\b(public|internet)\b.*\b(admin|ssh|database)\b/i
const DRIFT = /\b(drift\w*|in line|in sync|reconcile|really (runs?|is|are)|by hand|reality)\b/i
const IMPORT = /\b(import|take over|adopt|under management)\b/i

const verdict = (status: boolean, explanation: string): Reply => ({
  calls: [call('requests_filter', { status, explanation })],
})

/** Returns the mode whose rules the filter has. */
const routeOf = (system: string): Example['route'] =>
  /session remediates drift/.test(system) ? 'drift' : /session imports existing/.test(system) ? 'import' : 'generate'

/** REQUESTS_FILTER: lists the root, reads the files that the recording needs, then decides. */
export function filterRequest(conversation: Conversation): Reply {
  const { query, system, steps } = conversation
  if (FORBIDDEN.test(query))
    return verdict(
      false,
      'This request would destroy shared infrastructure or open it to everyone, which the guidelines forbid. ' +
        'Name the single resource that is no longer needed, and why.',
    )
  const route = routeOf(system)
  const recording = route === 'generate' ? findRecording(query) : null
  if (isQuestion(query, recording !== null))
    return steps.length === 0 ? { calls: questionLookups(query) } : verdict(false, answerQuestion(conversation))
  if (route === 'drift' && DRIFT.test(query))
    return verdict(true, 'The request asks to bring code in line with the infrastructure.')
  if (route === 'import' && IMPORT.test(query)) return verdict(true, 'The request asks to import resources that exist.')
  if (!recording) return verdict(false, notRecorded(route))
  const files = recording.reads
  if (steps.length === 0)
    return {
      calls: [
        call('list_dir', { relative_workspace_path: '.' }),
        ...files.map((targetFile) => call('read_file', { target_file: targetFile })),
      ],
    }
  const read: Files = Object.fromEntries(files.map((file) => [file, resultOf(steps, 'read_file', file)]))
  const obstacle = obstacleTo(recording, resultOf(steps, 'list_dir') ?? '', read)
  return obstacle
    ? verdict(false, obstacle)
    : verdict(true, 'The request asks for a bounded change that the guidelines allow.')
}
