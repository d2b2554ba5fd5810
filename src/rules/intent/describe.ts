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

/** Returns a sentence about the statements that are not met; empty when there are none. */
export function describeUnmet(results: readonly StatementResult[]): string {
  const unmet = withVerdict(results, 'unmet')
  const [first] = unmet
  if (!first) return ''
  const more = unmet.length > 1 ? ` (and ${unmet.length - 1} more)` : ''
  return `The plan does not show what the request asks for: ${endSentence(oneLine(first.statement.text)).slice(0, -1)}${more}.`
}

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
  `${endSentence(oneLine(statement.text))} The plan has: ${oneLine(finding)}.`

const endSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
