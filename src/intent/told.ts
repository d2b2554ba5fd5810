import type { Evaluated, Verdict } from './types.ts'

/** Title of the report entry that tells what came of the check. */
export const INTENT_TITLE = 'Checked against the request'

export const isIntentTitle = (title: string): boolean => title.trim().toLowerCase() === INTENT_TITLE.toLowerCase()

/** The entry's text: a sentence, then a line `- unmet: …` or `- unknown: …` for each statement that is not met. */
export function intentText(results: readonly Evaluated[]): string {
  const met = results.filter(({ verdict }) => verdict === 'met').length
  const lead = `Code checked ${results.length} ${results.length === 1 ? 'statement' : 'statements'} made from the request against the plan: ${met} of ${results.length} met.`
  const open = [...withVerdict(results, 'unmet'), ...withVerdict(results, 'unknown')]
  return [lead, ...open.map((result) => `- ${result.verdict}: ${lineOf(result)}`)].join('\n')
}

/** What the generator is told about statements that the plan does not meet. */
export const intentFeedback = (results: readonly Evaluated[]): string =>
  withVerdict(results, 'unmet')
    .map((result) => {
      const { words } = result.statement
      return `- ${lineOf(result)}${words === '' ? '' : ` The request says: "${oneLine(words)}".`}`
    })
    .join('\n')

export const withVerdict = (results: readonly Evaluated[], verdict: Verdict): Evaluated[] =>
  results.filter((result) => result.verdict === verdict)

const lineOf = ({ statement, found }: Evaluated): string =>
  `${sentence(oneLine(statement.text))} The plan has: ${oneLine(found)}.`

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
