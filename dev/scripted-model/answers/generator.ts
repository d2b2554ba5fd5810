import { searchReplace } from '../blocks.ts'
import {
  type Conversation,
  call,
  complete,
  isRefusal,
  listRoot,
  oneCall,
  type Reply,
  readFiles,
  resultOf,
  type Step,
  unknownRefusal,
} from '../conversation.ts'
import { type Edit, editsIn, type Files, findRecording } from '../recordings.ts'
import { driftTask, mendDrift } from './drift.ts'
import { importTask, writeImports } from './import.ts'

/** IAC_GENERATOR: reads, writes and ends. After a refusal of the engine it repairs what the diagnostic names. */
export function generate(conversation: Conversation): Reply {
  const { query } = conversation
  const ids = importTask(conversation)
  if (ids) return writeImports(ids, conversation)
  const drift = driftTask(query)
  if (drift && !findRecording(query)) return mendDrift(drift, conversation)
  if (['unasked', 'findings of the audit'].some((label) => conversation.data.has(label))) return mend(conversation)
  if (/^Hint: the provider \S+ cannot be installed/m.test(query)) return mend(conversation)
  return isRefusal(conversation) ? repair(conversation) : write(conversation)
}

/** Corrects what code has found in an attempt, where the recording says how; otherwise the code stays. */
function mend({ steps, history }: Conversation): Reply {
  const request = history.findLast((turn) => findRecording(turn.user))?.user
  const recording = request === undefined ? null : findRecording(request)
  const mends = recording?.mends ?? []
  if (!recording || mends.length === 0) return complete('done', 'The request asks for this: the code stays.')
  if (edited(steps)) return complete('done', recording.summary)
  if (steps.length === 0) return readFiles(recording.reads)
  const files: Files = Object.fromEntries(recording.reads.map((name) => [name, resultOf(steps, 'read_file', name)]))
  return { calls: editsIn({ edits: mends }, files).map(editCall) }
}

const EDITS = ['write_to_file', 'replace_in_file', 'delete_file']
const edited = (steps: readonly Step[]) => steps.some((step) => EDITS.includes(step.name))

function write({ query, steps: all }: Conversation): Reply {
  const recording = findRecording(query)
  if (!recording) return complete('not done', 'The scripted model has no recording for this task and changed nothing.')
  const { looks, reads: names } = recording
  const lookedUp = all.filter(({ name }) => name === 'last_plan')
  const steps = all.filter(({ name }) => name !== 'last_plan')
  if (looks) {
    if (lookedUp.length === 0) return { calls: [call('last_plan', {}), call('last_plan', { about: looks.about })] }
    if (!lookedUp.some(({ result }) => new RegExp(looks.finds).test(result)))
      return complete('not done', 'The last plan is not the one of the recording.')
  }
  if (steps.length === 0) return listRoot
  if (steps.length === 1) return readFiles(names)
  if (edited(steps)) return complete('done', recording.summary, recording.assumptions)
  const files: Files = Object.fromEntries(names.map((name) => [name, resultOf(steps, 'read_file', name)]))
  const edits = editsIn(recording, files)
  return edits.length > 0
    ? { calls: edits.map(editCall) }
    : complete('not done', 'The files look different from those of the recording.')
}

function editCall(edit: Edit) {
  if ('write' in edit) return call('write_to_file', { target_file: edit.write, content: edit.content })
  return call('replace_in_file', { target_file: edit.replace, diff: searchReplace(edit.search, edit.by) })
}

/** Repairs one kind of fault: a reference to a local value that is not declared. What is older is left. */
function repair({ query, steps, history }: Conversation): Reply {
  if (/All of them stood in the code before this session/.test(query))
    return complete('not done', 'The code was broken before this request, which does not ask to mend it.')
  const file = /\bon (\S+\.tf) line \d+|^(\S+\.tf):\d+/m.exec(query)?.slice(1).find(Boolean)
  const missing = /local value with the name "([^"]+)" has not been declared/.exec(query.replace(/\s+/g, ' '))?.[1]
  if (!file || !missing) return unknownRefusal
  if (edited(steps))
    return complete('done', summaryAfterRepair(history) ?? `Corrected the reference to local.${missing} in ${file}.`)
  if (steps.length === 0) return readFiles([file, 'locals.tf'])
  const declared = [...(resultOf(steps, 'read_file', 'locals.tf') ?? '').matchAll(/^ {2}(\w+)\s*=/gm)].map(
    (match) => match[1] ?? '',
  )
  const right = /^\w+-mirror\.tf$/.test(file)
    ? guessAfter(missing)
    : (declared.find((name) => name.endsWith(missing)) ?? declared.find((name) => name.includes(missing)))
  const line = (resultOf(steps, 'read_file', file) ?? '')
    .split('\n')
    .find((text) => new RegExp(`\\blocal\\.${missing}\\b`).test(text))
  if (!right || !line) return complete('not done', `Nothing in locals.tf stands for local.${missing}.`)
  const by = line.replaceAll(new RegExp(`\\blocal\\.${missing}\\b`, 'g'), `local.${right}`)
  return oneCall('replace_in_file', { target_file: file, diff: searchReplace(line, by) })
}

/** Names of values that do not exist. The recording of a model that never succeeds tries them in turn. */
const GUESSES = ['second_region', 'secondary_region', 'region_b', 'mirror_region', 'other_region', 'backup_region']

const guessAfter = (name: string): string | undefined => GUESSES[(GUESSES.indexOf(name) + 1) % GUESSES.length]

/** Makes the summary after a repair. The pull request describes the result and not the way to it. */
function summaryAfterRepair(history: Conversation['history']): string | null {
  const request = history.findLast((turn) => findRecording(turn.user))?.user
  return (request && findRecording(request)?.summary) || null
}
