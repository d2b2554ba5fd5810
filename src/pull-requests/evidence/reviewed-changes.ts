import { fromReportAction, toReportAction } from '../../plan/actions.ts'
import type { ChangeList, ListedChange } from '../../plan/change-list.ts'
import type { GenerateReport } from '../../reports/schemas.ts'
import type { Evidence } from './evidence.ts'
import { code } from './markdown.ts'

/** The changes of the reviewed plan, with the report's words for each. */
export interface ReviewedChanges extends ChangeList {
  /** False for plans of older rounds, which lack moves, imports and forgotten objects. */
  recorded: boolean
  narrationOf(address: string): string
}

/** Returns the stored changes of the reviewed plan, else the less complete ones of the report; null without both. */
export function reviewedChanges({ generate, rounds }: Evidence): ReviewedChanges | null {
  if (!generate) return null
  const stored = rounds.find(({ number }) => number === generate.round)?.result?.changes
  const list = stored ?? (generate.document && fromReport(generate.document))
  if (!list) return null
  const words = new Map(generate.document?.detailed_changes.map(({ name, summary }) => [name, summary]))
  return { ...list, recorded: stored !== undefined, narrationOf: (address) => words.get(address) ?? '' }
}

function fromReport({ summary, detailed_changes }: GenerateReport): ChangeList {
  const entries = detailed_changes.map(({ name, action }) => ({ address: name, action: fromReportAction(action) }))
  const { recreate: replace, ...counts } = summary
  return { entries, total: entries.length, counts: { ...counts, replace, move: 0, import: 0, forget: 0 } }
}

/** Lists all that happens to an object, for example `move, update`. */
export const actionInWords = ({ action, previous_address, import_id }: ListedChange): string =>
  [
    previous_address !== undefined && action !== 'move' && 'move',
    import_id !== undefined && action !== 'import' && 'import',
    toReportAction(action),
  ]
    .filter(Boolean)
    .join(', ')

/** Renders an object's address, origin and reasons for replacement as one line of Markdown. */
export function describeObject(change: ListedChange): string {
  const { address, previous_address, import_id, action, keeps_old } = change
  return [
    previous_address === undefined ? code(address) : `${code(previous_address)} → ${code(address)}`,
    import_id && `as ${code(import_id)}`,
    action === 'forget' && 'stays, no longer managed',
    action === 'replace' && describeForce(change),
    keeps_old && 'the old object stays, no longer managed',
  ]
    .filter(Boolean)
    .join(', ')
}

/** The engine's words for a replacement that no attribute forces. */
const REASONS: Record<string, string> = {
  replace_because_tainted: 'marked as damaged',
  replace_by_request: 'requested',
  replace_by_triggers: 'forced by `replace_triggered_by`',
}

function describeForce({ replace_paths = [], replace_reason = '' }: ListedChange): string {
  if (replace_paths.length > 0) return `forced by ${replace_paths.map((path) => code(path)).join(', ')}`
  return REASONS[replace_reason] ?? ''
}
