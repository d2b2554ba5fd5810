import { endSentence } from '../../base/text.ts'
import type { StatementResult, Verdict } from './statement.ts'

/** Title of the report entry about the check. */
export const INTENT_TITLE = 'Checked against the request'

export const isIntentTitle = (title: string): boolean => title.trim().toLowerCase() === INTENT_TITLE.toLowerCase()

/** Returns the text of that entry: a sentence, then `- unmet: …` or `- unknown: …` for each statement not met. */
export function describeResults(results: readonly StatementResult[]): string {
  const met = results.filter(({ verdict }) => verdict === 'met').length
  const statements = `${results.length} ${results.length === 1 ? 'statement' : 'statements'}`
  const outcome = `${met} of ${results.length} met`
  const lead = `Code checked ${statements} made from the request against the plan: ${outcome}.`
  const open = [...withVerdict(results, 'unmet'), ...withVerdict(results, 'unknown')]
  return [lead, ...open.map((result) => `- ${result.verdict}: ${lineOf(result)}`)].join('\n')
}

/** Returns sentences about statements that are not met, for the beginning of a report. */
export function describeUnmet(unmet: readonly StatementResult[]): string {
  const lines = unmet.slice(0, MAX_UNMET).map(lineOf)
  const more = unmet.length > MAX_UNMET ? [`${unmet.length - MAX_UNMET} more are missing.`] : []
  return ['The plan does not show all that the request asks for.', ...lines, ...more].join(' ')
}

const MAX_UNMET = 3

/** Returns the generator's text about statements that are not met, one line each. */
export const intentFeedback = (results: readonly StatementResult[]): string =>
  withVerdict(results, 'unmet')
    .map((result) => {
      const { words } = result.statement
      return `- ${lineOf(result)}${words === '' ? '' : ` The request says: "${oneLine(words)}".`}`
    })
    .join('\n')

export const withVerdict = (results: readonly StatementResult[], verdict: Verdict): StatementResult[] =>
  results.filter((result) => result.verdict === verdict)

const lineOf = ({ statement, finding }: StatementResult): string =>
  `Expected: ${endSentence(oneLine(statement.text))} Found: ${oneLine(finding)}.`

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
