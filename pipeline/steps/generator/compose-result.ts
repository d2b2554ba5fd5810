import { cutMiddle, joinNames } from '../../../src/base/text.ts'
import type { GeneratorAnswer } from '../../../src/chains/iac-generator.ts'
import type { RoundResult } from '../../../src/rounds/round-result.ts'

/** The generator's answer to one attempt, with facts from code. */
export interface Attempt extends GeneratorAnswer {
  number: number
  /** The reason for the attempt: the task, validation findings, a missing part of the request, or what an audit found. */
  reason: 'task' | 'validation' | 'request' | 'audit'
  /** What became of the attempt before it, with its number; empty for the first one. */
  after: string
  files: readonly string[]
}

const MAX_REMARK = 300
const MAX_FILES = 5

/**
 * Composes the result of a task over its attempts. Every answer is about the whole task, so that the last one which
 * changed files takes the place of those before it; the model may forget to say what was built, so that code names the
 * files. What later attempts changed is told by code. Words are kept of answers that changed nothing after a check
 * against the request, because they say why.
 * @param changed the files that differ after all attempts
 */
export function composeResult(
  attempts: readonly Attempt[],
  changed: readonly string[],
): Pick<RoundResult, 'summary' | 'assumptions' | 'gaps' | 'repairs'> {
  const wrote = ({ files }: Attempt) => files.length > 0
  const last = Math.max(0, attempts.findLastIndex(wrote))
  const present = attempts.slice(last)
  const mended = attempts.slice(1 + attempts.findIndex(wrote), last + 1).filter(wrote)
  const kept = present.slice(1).filter(({ reason }) => reason === 'request' || reason === 'audit')
  const files = mended.length > 0 && changed.length > 0 ? [`Changed in all: ${joinNames(changed, MAX_NAMED)}.`] : []
  return {
    summary: present[0]?.summary ?? '',
    assumptions: unite(present.flatMap(({ assumptions }) => assumptions)),
    gaps: gapsOf(attempts),
    repairs: [...files, ...[...mended, ...kept].map(describeLater)],
  }
}

const MAX_NAMED = 20

function describeLater({ number, after, files, summary }: Attempt): string {
  const words = cutMiddle(summary.replaceAll(/\s+/g, ' '), MAX_REMARK)
  const done = files.length > 0 ? `changed ${joinNames(files, MAX_FILES)}.` : `changed nothing: ${words}`
  return `Attempt ${after}; attempt ${number} ${done}`
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

const MAX_DRIFT = 2_000

/** Removes statements that differ from an earlier one only in case, blanks or the final full stop. */
function unite(statements: readonly string[]): string[] {
  const known = new Map<string, string>()
  for (const statement of statements) {
    const key = statement.toLowerCase().replaceAll(/\s+/g, ' ').replace(/\.$/, '')
    if (!known.has(key)) known.set(key, statement)
  }
  return [...known.values()]
}
