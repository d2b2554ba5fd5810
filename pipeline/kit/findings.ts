import type { Masker } from '../../src/base/masking.ts'
import { cutMiddle } from '../../src/base/text.ts'
import { parseDiagnostics } from '../../src/plan/diagnostics/parse.ts'
import type { AttemptDiagnostic, AttemptStepName } from '../../src/rounds/attempts.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** A problem that the engine or a check reported, unmasked. */
export type Finding = Pick<AttemptDiagnostic, 'severity' | 'summary'> &
  Partial<Omit<AttemptDiagnostic, 'severity' | 'summary' | 'step'>>

export type FoundIn = Finding & Pick<AttemptDiagnostic, 'step'>

/** Findings stored per attempt: `first` of them, but only `later` of attempts with a number above `after`. */
const MAX_KEPT = { first: 20, later: 3, after: 50 }
/** Maximum characters of each part. */
const MAX = { summary: 300, detail: 800, snippet: 1_200, name: 300, reason: 500 } as const

/** Returns the number of findings that are stored for the attempt with this number. */
export const keptOf = (number: number): number => (number > MAX_KEPT.after ? MAX_KEPT.later : MAX_KEPT.first)

/** Masks and shortens findings, and removes the paths of the working copy. */
export function publishFindings(
  found: readonly FoundIn[],
  { secrets, workspace, limit }: { secrets: Masker; workspace: Workspace; limit: number },
): AttemptDiagnostic[] {
  const clean = (text: string, most: number) => cutMiddle(secrets.text(withoutPaths(text, workspace)), most)
  const name = (text: string | null | undefined) => (text ? clean(text, MAX.name) : null)
  return found.slice(0, limit).map((one) => ({
    severity: one.severity,
    step: one.step,
    summary: clean(one.summary, MAX.summary),
    detail: clean(one.detail ?? '', MAX.detail),
    file: one.file?.startsWith('/') ? null : name(one.file),
    line: one.line ?? null,
    snippet: clean(one.snippet ?? '', MAX.snippet),
    address: name(one.address),
    rule: one.rule ?? null,
  }))
}

export const publishReason = (text: string, { secrets, workspace }: { secrets: Masker; workspace: Workspace }) =>
  cutMiddle(secrets.text(withoutPaths(text, workspace)).replaceAll(/\s+/g, ' ').trim(), MAX.reason)

const withoutPaths = (text: string, { iacRoot, clone }: Workspace): string =>
  text.replaceAll(iacRoot, '.').replaceAll(`${clone}/`, '')

const WORDS: Record<AttemptStepName, string> = {
  generate: 'The model did not finish its work',
  init: 'The engine could not initialise the code',
  validate: 'The engine does not accept the code',
  plan: 'The code could not be planned',
  show: 'The plan could not be read',
  import: 'Not everything could be imported',
  check: 'The plan is not what was asked for',
}

/** Returns a sentence that explains why these findings lead to another attempt. */
export function reasonOf(found: readonly FoundIn[]): string {
  const errors = found.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (!first) return 'The attempt was not accepted.'
  const lead = first.step === null ? 'The attempt was not accepted' : WORDS[first.step]
  const place = first.file ? ` (${first.file}${first.line ? `:${first.line}` : ''})` : ''
  const summary = first.summary.trim().replace(/[.:]+$/, '')
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  return `${lead}: ${summary}${place}${more}.`
}

/** Reads findings from a text: its diagnostics if it has any, else its first lines. */
export function findingsIn(text: string): Finding[] {
  const errors = parseDiagnostics(text).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) return errors
  const [summary = '', ...rest] = text.trim().split('\n')
  return summary === '' ? [] : [{ severity: 'error', summary, detail: rest.join('\n').trim() }]
}
