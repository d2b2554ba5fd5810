/**
 * Reads a body whole.
 * @param limit bytes
 * @param too_large makes the error for a longer one, which is not read to its end
 */
export async function readStream(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
  too_large: () => Error,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!stream) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > limit) throw too_large()
    chunks.push(chunk)
  }
  const all = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    all.set(chunk, offset)
    offset += chunk.byteLength
  }
  return all
}
