/** What is needed of a span to guess its size. */
interface Sized {
  readonly attributes: Readonly<Record<string, unknown>>
}

const PER_SPAN = 200
const PER_ATTRIBUTE = 16

/** Cuts a batch so that each piece stays about below `max_bytes`, but holds at least one span. */
export function inPieces<Item extends Sized>(items: readonly Item[], max_bytes: number): Item[][] {
  const pieces: Item[][] = []
  let piece: Item[] = []
  let size = 0
  for (const item of items) {
    const more = sizeOf(item)
    if (piece.length > 0 && size + more > max_bytes) {
      pieces.push(piece)
      piece = []
      size = 0
    }
    piece.push(item)
    size += more
  }
  if (piece.length > 0) pieces.push(piece)
  return pieces
}

function sizeOf({ attributes }: Sized): number {
  let size = PER_SPAN
  for (const [key, value] of Object.entries(attributes))
    size += PER_ATTRIBUTE + key.length + (typeof value === 'string' ? value.length : 8)
  return size
}
