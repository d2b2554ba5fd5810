/** Estimates tokens: ASCII by the model's average, other scripts by one token per UTF-16 unit. */
export const estimateTokens = (text: string, charsPerToken: number): number =>
  tokensOf(text.length, countOthers(text), charsPerToken)

/** Estimates the tokens of a text of which `others` units are not ASCII. Lengths are UTF-16 units. */
export const tokensOf = (length: number, others: number, charsPerToken: number): number =>
  Math.ceil((length - others) / charsPerToken) + others

/** Counts the UTF-16 units of a text that are not ASCII. */
export function countOthers(text: string): number {
  let others = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) others++
  return others
}
