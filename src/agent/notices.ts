/** The loop's own messages to the model. Names of tools are in backticks, as in the prompts of the chains. */
export const reminder = (resultTool: string) =>
  'Your reply called no tool. Go on with the task, and when you are done call the tool ' +
  `\`${resultTool}\`: only that call ends it.`

export const emptyReplyNotice = (resultTool: string) =>
  `Notice: your last reply was empty. Call a tool, or \`${resultTool}\` when you are done.`

/**
 * @param tokens those of the reply that was cut off; 0 if they are not known
 * @param last true if a further one that is cut off ends the chain
 */
export const cutReplyNotice = (finish: 'max_tokens' | 'repetition', tokens: number, last: boolean) =>
  `Notice: your last reply was cut off${tokens > 0 ? ` after ${tokens} tokens` : ''}, because it ` +
  `${finish === 'repetition' ? 'repeated the same text again and again' : 'was too long'}, and nothing of it was ` +
  `used. Reply again with less: ${last ? 'one call only, as small as it can be' : SMALLER}.`

const SMALLER =
  'short thoughts, few calls at once, and small edits; what does not fit into one reply can follow in the next ones'

export const lastTurnNotice = (resultTool: string) =>
  `Notice: this is the last turn. No other tool is available any more. Call \`${resultTool}\` now with what you have.`

export const duplicateCall = (name: string, earlierId: string) =>
  `Not run again: the answer of \`${name}\` is unchanged since call ${earlierId}. Use that answer.`

export const toolNotFound = (name: string, offered: readonly string[]) =>
  `Tool ${name} not found. The tools are: ${offered.map((tool) => `\`${tool}\``).join(', ')}`

/**
 * @param refused names of the tools whose edits were refused
 * @param unknown names of tools that do not exist
 */
export const resultRefused = (resultTool: string, refused: readonly string[], unknown: readonly string[]) =>
  `Not taken: ${[
    refused.length > 0 && `${quoteOnce(refused)} of the same reply was refused, and the files are not as you report. `,
    unknown.length > 0 && `there is no tool ${quoteOnce(unknown)}, and its call did nothing. `,
  ]
    .filter(Boolean)
    .join('')}Read that answer, do what is missing, then call \`${resultTool}\` again.`

/** @param unknown parameters that the tool does not have, perhaps missing ones under a wrong name */
export function missingParameters(name: string, missing: readonly string[], unknown: readonly string[] = []): string {
  const text = `Missing required ${plural('parameter', missing)} of \`${name}\`: ${missing.join(', ')}`
  if (unknown.length === 0) return text
  const [are, parametersAre] = [unknown, missing].map((names) => (names.length === 1 ? 'is' : 'are'))
  return `${text}. ${quote(unknown)} ${are} unknown; the ${plural('parameter', missing)} ${parametersAre} ${quote(missing)}.`
}

const plural = (noun: string, names: readonly string[]) => (names.length === 1 ? noun : `${noun}s`)
const quoteOnce = (names: readonly string[]) => quote([...new Set(names)])
const quote = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')

/** @param advice a specific correction, if known */
export const notJson = (name: string, reason: string, advice = '') =>
  `The arguments of \`${name}\` are not a JSON object (${reason}). ` +
  `${advice === '' ? '' : `${advice} `}Call it again with one valid JSON object.`

export const CONTROL_CHARACTER = 'Write line breaks inside of strings as \\n, tabs as \\t.'
export const CUT_OFF = 'The arguments seem to have been cut off: send smaller pieces, or one file at a time.'

export const emptyResult = (name: string) =>
  `\`${name}\` was called with nothing in it. Call it again with your result.`

export const unexpectedFailure = (name: string) => `The tool \`${name}\` failed unexpectedly.`
