import type { ActivityEvent, OutputEvent, PlanDocument } from '../../client/api/client.ts'
import { objectOf, objectsOf, parseJson, statusOf, textOf, textsOf } from '../../client/json.ts'
import { CHANGES } from '../../ui/plan/values.ts'

export type ImportReport = NonNullable<ReturnType<typeof readImportReport>>

/** Reads the report of an import round; null for any other document. */
export function readImportReport(document: unknown) {
  const fields = objectOf(document)
  const status = statusOf(fields)
  if (!status) return null
  const { imported = [], refused = [] } = Object.groupBy(
    objectsOf(fields.imported_resources).map((of) => ({
      isImported: of.status === 'imported',
      id: textOf(of.resource_id),
      address: textOf(of.resource_address),
      /** The reason why it was not imported; null if it was. */
      error: textOf(of.error_message) || null,
      details: textOf(of.details),
    })),
    ({ isImported }) => (isImported ? 'imported' : 'refused'),
  )
  return {
    ...{ status, imported, refused },
    summary: textOf(fields.execution_summary),
    alignment: textOf(fields.state_alignment),
    excluded: objectsOf(fields.excluded_resources).map((of) => ({
      id: textOf(of.resource_id),
      details: textOf(of.details),
    })),
    recommendations: textsOf(fields.recommendations),
  }
}

/** Returns the number of resources and outputs that a plan would change. */
export function countChanges({ summary, outputs }: Pick<PlanDocument, 'summary' | 'outputs'>): number {
  return CHANGES.reduce((sum, action) => sum + (summary[action] ?? 0), 0) + (outputs?.length ?? 0)
}

/** Returns true when engine output says that a plan is empty; null when it does not say. */
export function saysNoChanges(text: string): boolean | null {
  if (/^No changes\. /m.test(text)) return true
  return /^Plan: \d+ to (?:import|add)/m.test(text) || /^Changes to Outputs:/m.test(text) ? false : null
}

export type Import = ReturnType<typeof toImport>

/** Reads the engine's output of an import. A resource that is retried with another identifier appears once. */
export function readImports(events: readonly OutputEvent[]): Import[] {
  const jobs = new Map<string, Job>()
  for (const event of events) {
    if (event.type === 'cut' || event.step !== 'import') continue
    const job = jobs.get(event.job_id) ?? { stdout: '', stderr: '', exit: undefined }
    jobs.set(event.job_id, job)
    if (event.type === 'step.ended') job.exit = event.exit_code
    if (event.type === 'lines') job[event.stream] = add(job[event.stream], event.text)
  }
  const imports = new Map<string, Import>()
  for (const [id, job] of jobs) {
    const read = toImport(id, job)
    imports.delete(read.address || id)
    imports.set(read.address || id, read)
  }
  return [...imports.values()]
}

const add = (before: string, text: string) => (before === '' ? text : `${before}\n${text}`).slice(0, 20_000)

/** Terraform and OpenTofu begin with the same line; the identifier is quoted as in Go. */
const BEGINNING = /^(.+?): Importing from ID ("(?:[^"\\]|\\.)*")\.\.\.\s*$/m

interface Job extends Record<'stdout' | 'stderr', string> {
  /** The exit code; undefined while the job runs. */
  exit: number | null | undefined
}

function toImport(job: string, { stdout, stderr, exit }: Job) {
  const [, address = '', quoted = ''] = BEGINNING.exec(withoutColours(stdout)) ?? []
  const state = exit === undefined ? ('runs' as const) : exit === 0 ? ('imported' as const) : ('failed' as const)
  return {
    /** The id of the engine's job. */
    job,
    /** The address; empty until the engine has printed it. */
    address: address.trim(),
    /** The identifier that is passed to the import. */
    id: textOf(parseJson(quoted)) || quoted.slice(1, -1),
    state,
    /** The error of the engine. */
    error: state === 'failed' ? errorOf(stderr) || errorOf(stdout) || 'The engine gave no reason.' : '',
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with one
const withoutColours = (text: string) => text.replaceAll(/\u001b\[[\d;]*m/g, '')

/** Returns the engine's error text without the frame that it draws. */
function errorOf(text: string): string {
  const plain = withoutColours(text).replaceAll(/^[│╷╵] ?/gm, '')
  const at = plain.indexOf('Error: ')
  return at < 0 ? '' : plain.slice(at + 'Error: '.length, at + 2_000).trim()
}

/** Returns true when the events show that a round imports, or lists what can be imported. */
export const isImport = (events: readonly ActivityEvent[]): boolean =>
  events.some(
    (event) =>
      (event.type === 'attempt.began' && event.task === 'import') ||
      (event.type === 'engine.began' && ['import', 'scope_resource_ids'].includes(event.step)),
  )

/** Returns the number of resources that the round imports, from its messages; null while unknown. */
export function totalOf(messages: readonly (string | null)[]): number | null {
  const totals = messages.flatMap((message) => /^Imported \d+ of (\d+) resources\.$/.exec(message ?? '')?.[1] ?? [])
  return totals.length > 0 ? Number(totals.at(-1)) : null
}
