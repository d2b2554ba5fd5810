import { bytesOf, readFields } from '../../../src/base/protobuf.ts'
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

export function actedIn(plan: Uint8Array): Set<string> | null {
  try {
    const acted = new Set<string>()
    for (const change of messagesIn(plan, FIELDS.changes)) {
      const actions = messagesIn(change, FIELDS.change).flatMap((inner) => numbersIn(inner, FIELDS.action))
      if (actions.every((action) => HARMLESS.includes(action))) continue
      const addresses = messagesIn(change, FIELDS.address).map((text) =>
        new TextDecoder().decode(text).replaceAll(INSTANCE, ''),
      )
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
 * @param owner the resource, such as `null_resource.x`; absent where the code does not tell it, which counts as any
 */
export function runsWith(acted: ReadonlySet<string>, module = '', owner?: string): boolean {
  if (owner === undefined) return acted.size > 0
  const modules = module.split('.').filter(Boolean)
  return acted.has([...modules.map((name) => `module.${name}`), owner].join('.'))
}

const messagesIn = (bytes: Uint8Array, wanted: number): Uint8Array[] =>
  [...readFields(bytes)].flatMap((field) => (field.number === wanted ? [bytesOf(field)] : []))

const numbersIn = (bytes: Uint8Array, wanted: number): bigint[] =>
  [...readFields(bytes)].flatMap(({ number, value }) => (number === wanted && typeof value === 'bigint' ? [value] : []))
