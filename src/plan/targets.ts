import { itemsOf, type Json, memberOf, parseQuoted } from '../base/json.ts'
import { describeChange, isMoved, type ListedAction, mainAction, type PlannedChange } from './actions.ts'
import { covers, withoutIndexes } from './addresses.ts'
import type { CodeChanges } from './code/changes.ts'
import { within } from './code/modules.ts'
import type { Diagnostic } from './diagnostics/diagnostic.ts'
import { parseDiagnostics } from './diagnostics/parse.ts'
import type { DriftOperation } from './drift.ts'
import { describesCode, modulesOf, type Plan, plannedResources, type ResourceChange, stateResources } from './plan.ts'
import { addressOf, managedChanges, stateIdentifiers } from './planned-changes.ts'

/** Most targets that the iac service accepts; beyond it the whole root is planned. */
const MAX_TARGETS = 256

/** Returns changes that no target names, which the engine adds as dependencies; none without targets. */
export function changesOutsideTargets(plan: Plan, targets: readonly string[]): PlannedChange[] {
  if (targets.length === 0) return []
  return managedChanges(plan)
    .filter(({ resource }) => !isTargeted(resource, targets))
    .map(({ resource: { address, type }, action }) => ({ address, type, action }))
}

/** Reports whether a target covers a resource at its present or its previous address. */
export const isTargeted = ({ address, previous_address = address }: ResourceChange, targets: readonly string[]) =>
  targets.some((target) => covers(target, address) || covers(target, previous_address))

/** Reports whether a plan changes anything, be it in the state alone, that no target names. */
export const isWider = (plan: Plan, targets: readonly string[]): boolean =>
  plan.resource_changes.some(
    (resource) => !['none', 'read'].includes(mainAction(resource)) && !isTargeted(resource, targets),
  )

/** A change outside of targets; one that only moves, imports or forgets an object is one too. */
export interface OutsideChange {
  address: string
  type: string
  action: ListedAction
  /** The address in the state, when it is another one. */
  previous_address?: string
}

/**
 * Changes of a whole-root plan that a targeted plan leaves out, with what differs in them (masked); `reason` (short,
 * masked) when that plan failed.
 */
export type BeyondTargets =
  | { made: true; changes: OutsideChange[]; operations?: readonly DriftOperation[] }
  | { made: false; reason: string }

/** Returns whole-root changes at addresses that the targeted plan leaves as they are, in the plan's order. */
export function changesBeyond(targeted: Plan, whole: Plan): OutsideChange[] {
  const planned = new Set(allChanges(targeted).map(({ address }) => address))
  return allChanges(whole).filter(({ address }) => !planned.has(address))
}

const allChanges = (plan: Plan): OutsideChange[] =>
  plan.resource_changes.flatMap((resource) => {
    const action = mainAction(resource)
    if (action === 'none' || action === 'read') return []
    const { type, previous_address } = resource
    return {
      address: addressOf(resource),
      type,
      action,
      ...(isMoved(resource) && previous_address && { previous_address }),
    }
  })

/** Title of the report entry about changes outside the targets. */
export const BEYOND_TITLE = 'Outside the targets'

export const isBeyondTitle = (title: string): boolean => title.trim().toLowerCase() === BEYOND_TITLE.toLowerCase()

const MAX_LISTED = 50

/** Returns the text of that entry: a sentence, then at most 50 lines `- <action> <address>`. */
export function describeBeyondTargets(beyond: BeyondTargets): string {
  if (!beyond.made)
    return `What a plan of the whole root would change outside the targets could not be determined: ${beyond.reason}`
  const { changes } = beyond
  if (changes.length === 0) return 'A plan of the whole root changes nothing outside the targets.'
  const count = changes.length === 1 ? 'a change' : `${changes.length} changes`
  const lead = `A plan of the whole root would also make ${count} that this plan leaves out:`
  const lines = changes.slice(0, MAX_LISTED).map((change) => `- ${describeChange(change)}`)
  const more = changes.length > MAX_LISTED ? [`- and ${changes.length - MAX_LISTED} more`] : []
  return [lead, ...lines, ...more].join('\n')
}

/**
 * Reports whether a target matches anything in code, state or drift. The engine makes an empty plan for unmatched
 * targets, which would read as "no drift". Also true without targets, and when the document does not describe the code.
 */
export function hasMatchingTarget(plan: Plan, targets: readonly string[]): boolean {
  if (targets.length === 0 || !describesCode(plan)) return true
  const addresses = plannedAddresses(plan)
  return targets.some((target) => addresses.some((address) => covers(target, address)))
}

/** Returns every address in changes, drift, prior state and planned values. */
function plannedAddresses(plan: Plan): string[] {
  const entries = [...itemsOf(plan.document.resource_drift), ...stateResources(plan), ...plannedResources(plan)]
  return [
    ...plan.resource_changes.flatMap(({ address, previous_address }) => [address, previous_address]),
    ...entries.flatMap((entry) => [memberOf(entry, 'address'), memberOf(entry, 'previous_address')]),
  ].filter((address) => typeof address === 'string')
}

/**
 * Adds targets that the code proves missing: changed blocks, and both sides of added moves, unless a target covers them
 * or is a part of them. An empty proposal means the whole root and stays empty; too many targets become none, as do those
 * of code that was not read.
 */
export function completeTargets(
  proposed: readonly string[],
  { blocks, moved, unread }: Pick<CodeChanges, 'blocks' | 'moved' | 'unread'>,
): string[] {
  if (proposed.length === 0 || unread.length > 0) return []
  const targets = [...proposed]
  const addMissing = (address: string, isNamed: (target: string) => boolean) => {
    if (!targets.some(isNamed)) targets.push(address)
  }
  for (const { address, exact } of blocks)
    addMissing(address, (target) => covers(target, exact) || covers(exact, withoutIndexes(target)))
  for (const side of moved) addMissing(side, (target) => covers(target, side))
  return limitTargets(targets)
}

/**
 * Returns the addresses that the session changed, with those that use a value that it changed; none when there are too
 * many, or when code was not read.
 */
export function changedTargets(code: Pick<CodeChanges, 'blocks' | 'moved' | 'users' | 'unread'>): string[] {
  const addresses = [...code.blocks.map(({ address }) => address), ...code.users]
  return completeTargets(limitTargets(addresses.length > 0 ? addresses : code.moved), code)
}

/** Removes repeated targets; returns none (the whole root) when there are too many. */
export function limitTargets(targets: readonly string[]): string[] {
  const unique = [...new Set(targets)]
  return unique.length <= MAX_TARGETS ? unique : []
}

/** Returns targets without a match, which the engine ignores; none when the document does not describe the code. */
export function findUnknownTargets(plan: Plan, targets: readonly string[]): string[] {
  const modules = modulesOf(plan)
  if (modules.length === 0) return []
  const present = plannedAddresses(plan)
  const called = modules.flatMap(({ address, module }) =>
    Object.keys(module.module_calls ?? {}).map((name) => within(address, `module.${name}`)),
  )
  const declared = [...called, ...declaredBlocks(plan).map(({ address }) => address)]
  return targets.filter((target) => {
    if (present.some((address) => covers(target, address))) return false
    // The plan alone shows if an instance exists, the code if a block exists.
    return target !== withoutIndexes(target) || !declared.some((address) => covers(target, address))
  })
}

/** Returns the blocks of the code with their addresses, which have no indexes. */
const declaredBlocks = (plan: Plan): { address: string; block: Json }[] =>
  modulesOf(plan).flatMap(({ address, module }) =>
    itemsOf(module.resources).map((block) => ({ address: within(address, `${memberOf(block, 'address')}`), block })),
  )

/** Returns declared blocks missing from state and plan; none when the document does not describe the code. */
export function findUnplannedBlocks(plan: Plan): string[] {
  const known = new Set([...plannedAddresses(plan), ...stateIdentifiers(plan).keys()].map(withoutIndexes))
  return declaredBlocks(plan)
    .filter(({ address, block }) => memberOf(block, 'mode') === 'managed' && !known.has(address))
    .map(({ address }) => address)
}

/** The engine's complaint about targets. */
export interface TargetingFault {
  /** Addresses that must be targets too. */
  missing: string[]
  /** Targets that are not addresses. */
  invalid: string[]
}

/**
 * Reads the engine's complaint about targets; null when there are other errors. Source: `prePlanVerifyTargetedMoves`
 * and `ParseTargetStr` of OpenTofu and Terraform, which quote addresses as Go does.
 */
export function readTargetingFault(text: string): TargetingFault | null {
  const errors = parseDiagnostics(text).filter(({ severity }) => severity === 'error')
  if (errors.length === 0 || !errors.every(isAboutTargets)) return null
  return {
    missing: errors.flatMap(({ detail }) =>
      [...detail.matchAll(/^\s*-target=("(?:\\.|[^"\\])*")\s*$/gm)].flatMap(
        ([, quoted = '']) => parseQuoted(quoted) ?? [],
      ),
    ),
    invalid: errors.flatMap(({ summary }) => parseQuoted(INVALID.exec(summary)?.[1] ?? '') ?? []),
  }
}

/** Returns targets with a reserved type, such as `var.x`; OpenTofu ignores them. Source: Terraform's `ParseTarget`. */
export const reservedTargets = (targets: readonly string[]): string[] =>
  targets.filter((target) => RESERVED.test(withoutIndexes(target)))

const RESERVED = /^(?:module\.[^.]+\.)*(?:arg|count|each|lazy|local|path|self|template|terraform|var)\./

const INVALID = /^Invalid target (".*")$/

const isAboutTargets = ({ summary }: Diagnostic): boolean =>
  summary === 'Moved resource instances excluded by targeting' || INVALID.test(summary)
