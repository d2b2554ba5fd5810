import type { Fetch } from '../../../src/base/http.ts'

const line = (content: Buffer): Buffer =>
  Buffer.concat([Buffer.from((content.length + 4).toString(16).padStart(4, '0')), content])
const FLUSH = Buffer.from('0000')

/**
 * Plays an attacker's git server, in version 1 of the protocol, which answers every clone with the same pack.
 * @param options.capability one more of its capabilities
 * @param options.before the lines before the pack
 */
export function remoteOf(
  { head, pack }: { head: string; pack: Buffer },
  options: { packetBytes?: number; references?: number; capability?: string; before?: string[] } = {},
): Fetch {
  const { packetBytes = 65_515, references = 0, capability = 'symref=HEAD:refs/heads/main', before = ['NAK'] } = options
  const advertisement = Buffer.concat([
    line(Buffer.from('# service=git-upload-pack\n')),
    FLUSH,
    line(Buffer.from(`${head} HEAD\0side-band-64k shallow ofs-delta ${capability}\n`)),
    Buffer.from(`003e${'a'.repeat(40)} refs/heads/aaaaa\n`.repeat(references)),
    FLUSH,
  ])
  const parts = before.map((text) => line(Buffer.from(`${text}\n`)))
  for (let offset = 0; offset < pack.length; offset += packetBytes)
    parts.push(line(Buffer.concat([Buffer.from([1]), pack.subarray(offset, offset + packetBytes)])))
  const answer = Buffer.concat([...parts, FLUSH])
  return async (input) => new Response(new Uint8Array(String(input).includes('/info/refs') ? advertisement : answer))
}
