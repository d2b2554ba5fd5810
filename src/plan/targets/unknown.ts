import { isJsonObject, itemsOf, type Json, memberOf } from '../../base/json.ts'
import { withoutIndexes } from '../addresses.ts'
import { stateIdentifiers } from '../imports/planned.ts'
import type { Plan } from '../plan.ts'
import { covers, plannedAddresses } from './targets.ts'

/** Returns targets without a match, which the engine ignores; none when the document does not describe the code. */
export function findUnknownTargets(plan: Plan, targets: readonly string[]): string[] {
  const root = memberOf(plan.document.configuration, 'root_module')
  if (!isJsonObject(root ?? null)) return []
  const present = plannedAddresses(plan)
  const declared = declaredAddresses(root, '')
  return targets.filter((target) => {
    if (present.some((address) => covers(target, address))) return false
    // The plan alone shows if an instance exists, the code if a block exists.
    return target !== withoutIndexes(target) || !declared.some((address) => covers(target, address))
  })
}

/** Returns the blocks and modules of a configuration module, without indexes. */
function declaredAddresses(module: Json | undefined, prefix: string): string[] {
  const called = moduleCalls(module, prefix).flatMap(([address, inner]) => [
    address,
    ...declaredAddresses(inner, `${address}.`),
  ])
  return [...blocksOf(module, prefix).map(([address]) => address), ...called]
}

const blocksOf = (module: Json | undefined, prefix: string): [address: string, block: Json][] =>
  itemsOf(memberOf(module, 'resources')).map((block) => [`${prefix}${memberOf(block, 'address')}`, block])

function moduleCalls(module: Json | undefined, prefix: string): [address: string, module: Json | undefined][] {
  const calls = memberOf(module, 'module_calls')
  return Object.entries(isJsonObject(calls ?? null) ? (calls as Record<string, Json>) : {}).map(([name, call]) => [
    `${prefix}module.${name}`,
    memberOf(call, 'module'),
  ])
}

/** Returns declared blocks missing from state and plan; none when the document does not describe the code. */
export function findUnplannedBlocks(plan: Plan): string[] {
  const known = new Set([...plannedAddresses(plan), ...stateIdentifiers(plan).keys()].map(withoutIndexes))
  const collect = (module: Json | undefined, prefix: string): string[] => [
    ...blocksOf(module, prefix)
      .filter(([address, block]) => memberOf(block, 'mode') === 'managed' && !known.has(address))
      .map(([address]) => address),
    ...moduleCalls(module, prefix).flatMap(([address, inner]) => collect(inner, `${address}.`)),
  ]
  return collect(memberOf(plan.document.configuration, 'root_module'), '')
}
