import { readPlannedChanges } from './config-files.ts'

/** Fields of the engine's plan (`planproto`): its changes; their address and change; the action of a change. */
const FIELDS = { changes: 3, address: 13, change: 9, action: 1 }
/** The actions that neither create nor destroy: none, read and update. */
const HARMLESS = [0n, 2n, 3n]
const ADDRESS = /^(?:module\.[^\s."[\]/#]+\.)*(?:data\.)?[^\s."[\]/#]+\.[^\s."[\]/#]+$/
const INSTANCE = /\[(?:\d+|"(?:[^"\\]|\\.)*")\]/g

/**
 * Returns the addresses, without instances, of the resources that a plan file creates, replaces or destroys. Null when
 * any part of it is not understood, so that nothing is taken for harmless.
 */
export async function readActed(planFile: string): Promise<Set<string> | null> {
  const plan = await readPlannedChanges(planFile)
  return plan === null ? null : actedIn(plan)
}

export function actedIn(plan: Buffer): Set<string> | null {
  try {
    const acted = new Set<string>()
    for (const change of messagesIn(plan, FIELDS.changes)) {
      const actions = messagesIn(change, FIELDS.change).flatMap((inner) => numbersIn(inner, FIELDS.action))
      if (actions.every((action) => HARMLESS.includes(action))) continue
      const addresses = messagesIn(change, FIELDS.address).map((text) => text.toString().replaceAll(INSTANCE, ''))
      if (addresses.length === 0 || !addresses.every((address) => ADDRESS.test(address))) return null
      for (const address of addresses) acted.add(address)
    }
    return acted
  } catch {
    return null
  }
}

/**
 * Reports whether provisioners of a resource run with these changes.
 * @param module the modules on the way to it, such as `net.sub`; empty for the root
 * @param owner the resource, such as `null_resource.x`; without one it counts as any
 */
export function runsWith(acted: ReadonlySet<string>, module = '', owner?: string): boolean {
  if (owner === undefined) return acted.size > 0
  const modules = module.split('.').filter(Boolean)
  return acted.has([...modules.map((name) => `module.${name}`), owner].join('.'))
}

const messagesIn = (bytes: Buffer, wanted: number): Buffer[] =>
  [...fieldsOf(bytes)].flatMap(({ field, value }) => (field !== wanted ? [] : [expectBytes(value)]))

const numbersIn = (bytes: Buffer, wanted: number): bigint[] =>
  [...fieldsOf(bytes)].flatMap(({ field, value }) => (field === wanted && typeof value === 'bigint' ? [value] : []))

function expectBytes(value: bigint | Buffer): Buffer {
  if (typeof value === 'bigint') throw new Error('a message has the form of a number')
  return value
}

/** Reads the fields of a message in the binary form of protocol buffers. Errors: any for another form. */
function* fieldsOf(bytes: Buffer): Generator<{ field: number; value: bigint | Buffer }> {
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new Error('a number is too long')
  }
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('a message ends too early')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const key = Number(varint())
    const lengths: Record<number, () => bigint | Buffer> = {
      0: varint,
      1: () => take(8),
      2: () => take(Number(varint())),
      5: () => take(4),
    }
    const read = lengths[key % 8]
    if (read === undefined) throw new Error('a message has an unknown form')
    yield { field: Math.floor(key / 8), value: read() }
  }
}
