/** A text is repeating itself when its end is the same piece this many times, and at least this long in all. */
const TIMES = 8
const LENGTH = 8_000
/** The longest piece that is looked for. All lengths are UTF-16 units. */
const PIECE = 2_000
const WINDOW = TIMES * PIECE
/** How much is written between two looks. */
const STEP = 2_000

/**
 * Creates a check for models that write the same again and again, until the limit of the answer. Code repeats itself
 * too, but blocks differ in their names, so only exact repetition counts.
 * @returns a function that takes the next piece of the text and returns true once the end of the text is a repetition
 */
export function createRepetitionCheck(): (piece: string) => boolean {
  let end = ''
  let unseen = ''
  return (piece) => {
    unseen += piece
    if (unseen.length < STEP) return false
    end = (end + unseen).slice(-WINDOW)
    unseen = ''
    return end.length >= LENGTH && isRepetition(end)
  }
}

/** True if the end of a text is a repetition. The time grows with the length of the text alone. */
function isRepetition(text: string): boolean {
  const length = text.length
  const at = (index: number) => text.charCodeAt(length - 1 - index)
  /** By index: how far the text, read backwards from there, equals the text read backwards from its end. */
  const equal = new Uint32Array(length)
  let [from, to] = [0, 0]
  for (let index = 1; index < Math.min(length, PIECE + 1); index++) {
    let same = index < to ? Math.min(to - index, equal[index - from] ?? 0) : 0
    while (index + same < length && at(same) === at(index + same)) same++
    equal[index] = same
    if (index + same > to) [from, to] = [index, index + same]
    // With a piece of `index` letters, this much of the end is repetition.
    if (same + index >= Math.max(LENGTH, TIMES * index)) return true
  }
  return false
}
