import { cutMiddle } from '../../../src/base/text.ts'
import type { GeneratorAnswer } from '../../../src/chains/iac-generator.ts'
import type { RoundResult } from '../../../src/rounds/round-result.ts'

/** The generator's summary of one attempt, with facts from code. */
export interface Attempt extends GeneratorAnswer {
  /** The reason for the attempt: the task, validation findings, a missing part of the request, or what an audit found. */
  reason: 'task' | 'validation' | 'request' | 'audit'
  files: readonly string[]
}

/**
 * Composes the result of a task over its attempts. The first attempt that changed files says what was built. A later
 * attempt that describes the whole again replaces it, one that describes only a correction becomes a remark, and one
 * without changes or news is left out.
 */
export function composeResult(
  attempts: readonly Attempt[],
): Pick<RoundResult, 'summary' | 'assumptions' | 'gaps' | 'repairs'> {
  const base = Math.max(
    0,
    attempts.findIndex(({ files }) => files.length > 0),
  )
  let summary = attempts[base]?.summary ?? ''
  const repairs: string[] = []
  for (const later of attempts.slice(base + 1)) {
    // Without a change, only the reason for leaving what was objected to is worth a remark.
    if (later.files.length === 0 && later.reason !== 'request' && later.reason !== 'audit') continue
    if (later.summary === summary) continue
    const describesAll = later.files.length > 0 && describesSame(later.summary, summary)
    repairs.push(
      `${REMARK[later.reason]}: ${describesAll ? `changed ${listFiles(later.files, MAX_FILES)}.` : wordsOfRemark(later)}`,
    )
    if (describesAll) summary = later.summary
  }
  const assumptions = unite(attempts.flatMap((attempt) => attempt.assumptions))
  return { summary, assumptions, gaps: gapsOf(attempts), repairs }
}

/** Returns what was left out, as of the last attempt that was asked for missing parts and those after it. */
function gapsOf(attempts: readonly Attempt[]): string[] {
  const last = attempts.findLastIndex(({ reason, files }) => reason === 'request' && files.length > 0)
  const leftOut = attempts.slice(Math.max(0, last)).flatMap((attempt) => attempt.left_out)
  return unite(leftOut).map((part) => `Left out: ${/[.!?]$/.test(part) ? part : `${part}.`}`)
}

/** Returns the result as the assistant's side of a turn; it is masked already. */
export function describeResult({ summary, assumptions, gaps, repairs }: RoundResult): string {
  const parts = [
    gaps.join('\n'),
    summary,
    assumptions.length > 0 ? ['Assumptions:', ...assumptions.map((one) => `- ${one}`)].join('\n') : '',
    repairs.join('\n'),
  ]
  return joinParts(parts)
}

/** Joins the non-empty parts with a blank line between them. */
export const joinParts = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n')

/** Describes the changes by others in the result; empty when there are none. */
export const describeOthersChanges = ({ drift }: RoundResult): string =>
  drift.length === 0
    ? ''
    : cutMiddle(
        ['Changes that others had made were written into the code:', ...drift.map((one) => `- ${one}`)].join('\n'),
        MAX_DRIFT,
      )

/** Adds the result of a task to that of its round, which may have several tasks. */
export function addToResult(result: RoundResult, added: ReturnType<typeof composeResult>): void {
  result.summary = joinParts([result.summary, added.summary])
  result.assumptions = unite([...result.assumptions, ...added.assumptions])
  result.gaps.push(...added.gaps)
  result.repairs.push(...added.repairs)
}

const REMARK = {
  task: 'Later',
  validation: 'After validation',
  request: 'After a check against the request',
  audit: 'After the audit',
} as const
const MAX_REMARK = 300
const MAX_DRIFT = 2_000
const MAX_FILES = 5

/** Returns the text of the model unchanged, since it describes the change. */
const wordsOfRemark = ({ files, summary }: Attempt): string => {
  const words = cutMiddle(summary.replaceAll(/\s+/g, ' '), MAX_REMARK)
  return files.length === 0 ? `nothing was changed. ${words}` : words
}

/** Joins at most `limit` files with commas, and the number of the others. */
export function listFiles(files: readonly string[], limit: number): string {
  const left = files.length - limit
  return [...files.slice(0, limit), ...(left > 0 ? [`${left} more`] : [])].join(', ')
}

/** Minimum share of common words for two summaries to describe the same. */
const COVERED = 0.6
/** The same share for a text that is at least as long and has the same names. */
const COVERED_BY_LONGER = 0.4
/** Words are compared by their first letters, so that endings do not matter; shorter words are ignored. */
const WORD = { least: 4, compared: 5 }

/** True if two texts describe the same. False in doubt, because a replaced text is lost. */
function describesSame(text: string, other: string): boolean {
  const words = wordsOf(other)
  const share = shareOf(words, wordsOf(text))
  if (words.size === 0 || share >= COVERED) return words.size > 0
  return (
    share >= COVERED_BY_LONGER &&
    text.length >= other.length &&
    !BEGINS_AS_CORRECTION.test(text) &&
    shareOf(namesOf(other), namesOf(text)) === 1
  )
}

const BEGINS_AS_CORRECTION = /^(the |i |only )*(correct|fix|mend|repair|renam|replac|remov)/i

/** Returns the share of the first set that the second contains, from 0 to 1; 1 when the first is empty. */
const shareOf = (wanted: ReadonlySet<string>, own: ReadonlySet<string>): number =>
  wanted.size === 0 ? 1 : [...wanted].filter((one) => own.has(one)).length / wanted.size

const wordsOf = (text: string): Set<string> =>
  new Set(
    (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
      .filter((word) => word.length >= WORD.least)
      .map((word) => word.slice(0, WORD.compared)),
  )

/** Returns names of files and blocks: words with a dot or an underscore inside. */
const namesOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\w/-]+(?:[._][\w/-]+)+/g))

/** Removes statements that differ from an earlier one only in case, blanks or the final full stop. */
function unite(statements: readonly string[]): string[] {
  const known = new Map<string, string>()
  for (const statement of statements) {
    const key = statement.toLowerCase().replaceAll(/\s+/g, ' ').replace(/\.$/, '')
    if (!known.has(key)) known.set(key, statement)
  }
  return [...known.values()]
}
