import { cutMiddle } from '../../../src/base/text.ts'
import type { GeneratorAnswer } from '../../../src/chains/iac-generator.ts'
import type { RoundResult } from '../../../src/rounds/round-result.ts'

/** The summary that the generator gave of one attempt, with facts that code knows. */
export interface Attempt extends GeneratorAnswer {
  /** The reason for it: the task, findings of the validation, or a part of the request that was missing. */
  reason: 'task' | 'validation' | 'request'
  /** Files that it changed. */
  files: readonly string[]
}

/**
 * Composes the result of a task over all of its attempts: what was built, assumptions, and later attempts as remarks.
 * The words of the first attempt that changed files say what was built. A later attempt that describes the whole again,
 * as it is asked to, takes their place, because it knows more; one that only speaks of its correction is a remark, and
 * one that changed nothing, or says the same, is not mentioned.
 */
export function composeResult(attempts: readonly Attempt[]): Pick<RoundResult, 'summary' | 'assumptions' | 'repairs'> {
  const base = Math.max(
    0,
    attempts.findIndex(({ files }) => files.length > 0),
  )
  let summary = attempts[base]?.summary ?? ''
  const repairs: string[] = []
  for (const later of attempts.slice(base + 1)) {
    // Without a change, only the reason why a part of the request was left out is worth a remark.
    if (later.files.length === 0 && later.reason !== 'request') continue
    if (later.summary === summary) continue
    const describesAll = later.files.length > 0 && describesSame(later.summary, summary)
    repairs.push(
      `${REMARK[later.reason]}: ${describesAll ? `changed ${listFiles(later.files)}.` : wordsOfRemark(later)}`,
    )
    if (describesAll) summary = later.summary
  }
  return { summary, assumptions: unite(attempts.flatMap(({ assumptions }) => assumptions)), repairs }
}

/** The result as the assistant's side of a turn. The words are those of the result, which are masked already. */
export function describeResult({ summary, assumptions, repairs }: RoundResult): string {
  const parts = [
    summary,
    assumptions.length > 0 ? ['Assumptions:', ...assumptions.map((one) => `- ${one}`)].join('\n') : '',
    repairs.join('\n'),
  ]
  return joinParts(parts)
}

/** Joins the parts that are not empty, with a blank line between them. */
export const joinParts = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n')

/** Says what of the result others had changed; empty when they had not. */
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
  result.repairs.push(...added.repairs)
}

const REMARK = {
  task: 'Later',
  validation: 'After validation',
  request: 'After a check against the request',
} as const
const MAX_REMARK = 300
const MAX_DRIFT = 2_000
const MAX_FILES = 5

/** The words of the model as they are: they say themselves what was done. */
const wordsOfRemark = ({ files, summary }: Attempt): string => {
  const words = cutMiddle(summary.replaceAll(/\s+/g, ' '), MAX_REMARK)
  return files.length === 0 ? `nothing was changed. ${words}` : words
}

function listFiles(files: readonly string[]): string {
  const left = files.length - MAX_FILES
  return [...files.slice(0, MAX_FILES), ...(left > 0 ? [`${left} more`] : [])].join(', ')
}

/** Share of the words of a summary that another one has to have to describe the same. */
const COVERED = 0.6
/** The same share for a text that is at least as long and names the same things. */
const COVERED_BY_LONGER = 0.4
/** Words are compared by their beginnings, so that their endings do not matter. Shorter words say too little. */
const WORD = { least: 4, compared: 5 }

/**
 * True if a text describes what another one does, in perhaps other words. A correction speaks of few of the things that
 * were built. Taking it for the whole would lose what was built, so that in doubt it is none.
 */
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

/** Share of the first set that the second one has, from 0 to 1; 1 when the first one is empty. */
const shareOf = (wanted: ReadonlySet<string>, own: ReadonlySet<string>): number =>
  wanted.size === 0 ? 1 : [...wanted].filter((one) => own.has(one)).length / wanted.size

const wordsOf = (text: string): Set<string> =>
  new Set(
    (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
      .filter((word) => word.length >= WORD.least)
      .map((word) => word.slice(0, WORD.compared)),
  )

/** Names of files and of blocks: what has a dot or an underscore inside. */
const namesOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\w/-]+(?:[._][\w/-]+)+/g))

/** Drops statements that differ from an earlier one in case, blanks or the last full stop only. */
function unite(statements: readonly string[]): string[] {
  const known = new Map<string, string>()
  for (const statement of statements) {
    const key = statement.toLowerCase().replaceAll(/\s+/g, ' ').replace(/\.$/, '')
    if (!known.has(key)) known.set(key, statement)
  }
  return [...known.values()]
}
