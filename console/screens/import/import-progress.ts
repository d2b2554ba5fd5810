import type { ActivityEvent, OutputEvent } from '../../client/api/schemas.ts'

export interface Import {
  /** The id of the engine's job. */
  job: string
  /** The address; empty until the engine has printed it. */
  address: string
  /** The identifier that is passed to the import. */
  id: string
  state: 'runs' | 'imported' | 'failed'
  /** The error of the engine. */
  error: string
}

const MAX_TEXT = 20_000
const MAX_ERROR = 2_000

interface Job {
  said: string
  against: string
  exit: number | null | undefined
}

/** Reads the engine's output of an import. A resource that is retried with another identifier appears once. */
export function readImports(events: readonly OutputEvent[]): Import[] {
  const jobs = new Map<string, Job>()
  for (const event of events) {
    if (event.type === 'cut' || event.step !== 'import') continue
    const job = jobs.get(event.job_id) ?? { said: '', against: '', exit: undefined }
    jobs.set(event.job_id, job)
    if (event.type === 'step.ended') job.exit = event.exit_code
    if (event.type !== 'lines') continue
    if (event.stream === 'stderr') job.against = add(job.against, event.text)
    else job.said = add(job.said, event.text)
  }
  const imports = new Map<string, Import>()
  for (const [id, job] of jobs) {
    const read = toImport(id, job)
    imports.delete(read.address || id)
    imports.set(read.address || id, read)
  }
  return [...imports.values()]
}

const add = (before: string, text: string) => (before === '' ? text : `${before}\n${text}`).slice(0, MAX_TEXT)

/** Terraform and OpenTofu begin with the same line; the identifier is quoted as in Go. */
const BEGINNING = /^(.+?): Importing from ID ("(?:[^"\\]|\\.)*")\.\.\.\s*$/m

function toImport(job: string, { said, against, exit }: Job): Import {
  const [, address = '', quoted = ''] = BEGINNING.exec(withoutColours(said)) ?? []
  const state = exit === undefined ? 'runs' : exit === 0 ? 'imported' : 'failed'
  const error = state === 'failed' ? errorOf(against) || errorOf(said) || 'The engine gave no reason.' : ''
  return { job, address: address.trim(), id: unquote(quoted), state, error }
}

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return quoted.slice(1, -1)
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with one
const withoutColours = (text: string) => text.replaceAll(/\u001b\[[\d;]*m/g, '')

/** Returns the engine's error text without the frame that it draws. */
function errorOf(text: string): string {
  const plain = withoutColours(text).replaceAll(/^[│╷╵] ?/gm, '')
  const at = plain.indexOf('Error: ')
  return at < 0 ? '' : plain.slice(at + 'Error: '.length, at + MAX_ERROR).trim()
}

const OWN_STEPS = ['import', 'scope_resource_ids']

/** Returns true when the events show that a round imports, or lists what can be imported. */
export const isImport = (events: readonly ActivityEvent[]): boolean =>
  events.some(
    (event) =>
      (event.type === 'attempt.began' && event.task === 'import') ||
      (event.type === 'engine.began' && OWN_STEPS.includes(event.step)),
  )

/** Returns the number of resources that the round imports, from its messages; null while unknown. */
export function totalOf(messages: readonly (string | null)[]): number | null {
  for (const message of messages.toReversed()) {
    const [, total] = /^Imported \d+ of (\d+) resources\.$/.exec(message ?? '') ?? []
    if (total !== undefined) return Number(total)
  }
  return null
}
