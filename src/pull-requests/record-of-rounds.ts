import type { Turn } from '../base/vocabulary.ts'
import { type ChangeList, countsInWords, type ListedChange } from '../plan/change-list.ts'
import type { RoundRow } from './evidence/evidence.ts'
import { actionInWords } from './evidence/reviewed-changes.ts'

/** Most changes of a plan that the model sees one by one. */
const MAX_CHANGES = 60

/**
 * Describes for a model what completed rounds did: request, summary, drift written into the code, and planned changes.
 * Facts of the conversation are not repeated; empty when there is nothing to add.
 * @param rounds masked, oldest first
 */
export function recordOfRounds(rounds: readonly RoundRow[], history: readonly Turn[]): string {
  const said = (text: string) => history.some(({ user, assistant }) => user === text || assistant.includes(text))
  return rounds
    .filter(({ mode, status }) => mode !== 'apply' && status === 'completed')
    .flatMap(({ number, mode, query, result }) => {
      const lines = [
        ...(said(query) ? [] : [`Request: ${query}`]),
        ...(!result?.summary || said(result.summary) ? [] : [`Built: ${result.summary}`]),
        ...(result?.drift ?? []).map((line) => `Drift written into the code: ${line}`),
        ...(result?.changes ? describePlan(result.changes) : []),
      ]
      return lines.length > 0 ? [`Round ${number}, ${mode}`, ...lines] : []
    })
    .join('\n')
}

function describePlan({ entries, total, counts }: ChangeList): string[] {
  const shown = entries.slice(0, MAX_CHANGES)
  return [
    `Plan: ${countsInWords(counts)}`,
    ...shown.map(describeChange),
    ...(total > shown.length ? [`and ${total - shown.length} more`] : []),
    ...(counts.move > 0 ? ['A move changes the address of an object; it creates and destroys nothing.'] : []),
    ...(counts.import > 0 ? ['An import takes an existing object into the state; it creates nothing.'] : []),
    ...(counts.forget > 0 ? ['A forgotten object stays, but is no longer managed.'] : []),
  ]
}

function describeChange(change: ListedChange): string {
  const { address, previous_address } = change
  return `- ${actionInWords(change)} ${previous_address === undefined ? '' : `${previous_address} -> `}${address}`
}
