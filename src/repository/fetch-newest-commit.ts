import type { Slices } from '../base/slices.ts'
import { connectRemote } from './head.ts'
import { DELIMITER, FLUSH, packetLine, readPackets } from './packets.ts'
import type { GitContext } from './remote.ts'
import type { Discovery } from './smart-http.ts'

const MAX_PACK_BYTES = 48 * 1024 * 1024
/** Packets between two looks at the clock. */
const BATCH = 1_024

/**
 * Fetches one commit without its history, and without the contents of files if the server can leave them out.
 * @returns the pack, for `readPack`
 * Errors: `GitStatusError`; plain ones when the server refuses or its answer cannot be read.
 */
export async function fetchNewestCommit(
  context: GitContext,
  uri: string,
  options: { commit: string; timeoutMs: number; signal: AbortSignal; slices: Slices },
): Promise<Uint8Array> {
  const remote = await connectRemote(context, uri, options)
  const discovery = await remote.discover()
  const request = (discovery.version === 2 ? writeRequest2 : writeRequest1)(discovery, options.commit)
  return await takePack(await remote.call(request, discovery.version, MAX_PACK_BYTES), options.slices)
}

const NO_SHALLOW = 'the server cannot send a commit without its history'

function writeRequest1({ capabilities }: Discovery, commit: string): string {
  const used = ['side-band-64k', 'shallow', 'ofs-delta', 'no-progress', 'filter'].filter((name) =>
    capabilities.includes(name),
  )
  if (!used.includes('side-band-64k') || !used.includes('shallow')) throw new Error(NO_SHALLOW)
  const wanted = [`want ${commit} ${used.join(' ')}`, 'deepen 1', ...filterOf(used)].map(packetLine)
  return [...wanted, FLUSH, packetLine('done')].join('')
}

function writeRequest2({ capabilities }: Discovery, commit: string): string {
  const fetching = capabilities.find((line) => line.startsWith('fetch=')) ?? 'fetch='
  const features = fetching.slice('fetch='.length).split(' ')
  if (!features.includes('shallow')) throw new Error(NO_SHALLOW)
  const options = [`want ${commit}`, 'ofs-delta', 'no-progress', 'deepen 1', ...filterOf(features), 'done']
  return [packetLine('command=fetch'), DELIMITER, ...options.map(packetLine), FLUSH].join('')
}

const filterOf = (features: readonly string[]): string[] => (features.includes('filter') ? ['filter blob:none'] : [])

const [PACK_BAND, PROGRESS_BAND, ERROR_BAND] = [1, 2, 3]

/**
 * Takes the pack out of the packets of an answer. It is put together at the beginning of the answer's own bytes, so
 * that no second copy is held. The lines before it, about shallow commits and sections, are passed over.
 */
async function takePack(answer: Uint8Array<ArrayBuffer>, slices: Slices): Promise<Uint8Array> {
  let [length, packets] = [0, 0]
  for (const { kind, start, end } of readPackets(answer)) {
    if (++packets % BATCH === 0 && slices.due()) await slices.pause()
    if (kind === 'control' || start === end) continue
    const band = answer[start]
    if (band === PACK_BAND) {
      answer.copyWithin(length, start + 1, end)
      length += end - start - 1
    } else if (band === ERROR_BAND || startsWithError(answer, start, end)) {
      throw new Error('the server refused to send the commit')
    } else if (length > 0 && band !== PROGRESS_BAND) {
      throw new Error('the answer does not follow the protocol of git')
    }
  }
  return answer.subarray(0, length)
}

/** Whether a line begins with `ERR `. */
const startsWithError = (bytes: Uint8Array, start: number, end: number): boolean =>
  new TextDecoder().decode(bytes.subarray(start, Math.min(end, start + 4))) === 'ERR '
