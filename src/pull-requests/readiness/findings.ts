import { MERGE_METHODS, type MergeMethod } from '../../../config/sections/git.ts'
import { PlatformError } from '../../base/errors.ts'
import { cutEnd, joinNames } from '../../base/text.ts'

/** Kinds of obstacles of a merge. `session` is one of the platform's own; all others are the git host's. */
export const BLOCKER_CODES = [
  'session',
  'closed',
  'moved',
  'target',
  'draft',
  'conflict',
  'behind',
  'checks',
  'reviews',
  'changes_requested',
  'discussions',
  'signatures',
  'merge_queue',
  'permissions',
  'policy',
  'computing',
] as const
export type BlockerCode = (typeof BLOCKER_CODES)[number]

/** A required check that has not passed. `state` is the host's word; `missing` where nothing was reported yet. */
export interface CheckState {
  name: string
  state: string
}

/** What stands in the way of a merge, with a sentence that says what is missing. */
export interface Blocker {
  code: BlockerCode
  text: string
  /** The required checks that have not passed; empty for other obstacles. */
  checks: CheckState[]
}

/** The methods of a merge. */
export const METHODS = MERGE_METHODS

export const READINESS_STATUSES = ['ready', 'waiting', 'blocked', 'merged', 'closed', 'unknown'] as const

/** What the git host says about merging a pull request, at the time of reading. */
export interface Readiness {
  /**
   * `waiting`: nothing but time is missing; `merged`: at the commit that may be merged, or any where none is known;
   * `unknown`: the host did not say.
   */
  status: (typeof READINESS_STATUSES)[number]
  /** The method that a merge would take; null when the host did not say what it allows. */
  method: MergeMethod | null
  blockers: Blocker[]
  /** What the host did not say, in sentences. */
  unknown: string[]
}

/** States of checks after which a further one is to be expected without anybody doing anything. */
const RUNNING =
  /^(pending|queued|running|in_progress|waiting|requested|missing|created|preparing|waiting_for_resource)$/

/** Most obstacles and sentences of one reading. */
const MOST = 20
const LONGEST = 500

/** Collects what a host says about a pull request. */
export class Findings {
  readonly blockers: Blocker[] = []
  readonly unknown: string[] = []
  method: MergeMethod | null = null

  block(code: BlockerCode, text: string, checks: CheckState[] = []): void {
    if (this.blockers.length < MOST) this.blockers.push({ code, text: shorten(text), checks: checks.slice(0, 50) })
  }

  /** Adds the required checks that have not passed. */
  blockChecks(checks: readonly CheckState[]): void {
    if (checks.length === 0) return
    const shown = checks.map(({ name, state }) => ({ name: shorten(name, 100), state: shorten(state, 40) }))
    const names = joinNames(
      shown.map(({ name, state }) => `${name} (${state})`),
      10,
    )
    this.block('checks', `Required checks have not passed: ${names}.`, shown)
  }

  doubt(text: string): void {
    if (this.unknown.length < MOST) this.unknown.push(shorten(text))
  }

  /** Asks the host. A failure, or the end of the time for it, is noted as unknown, and the answer is then null. */
  async ask<T>(what: string, call: Promise<T>): Promise<T | null> {
    return await call.catch((error: unknown) => {
      if (!(error instanceof PlatformError || error instanceof DOMException)) throw error
      this.doubt(`The git host did not say ${what}.`)
      return null
    })
  }

  result(): Readiness {
    const { method, blockers, unknown } = this
    return { status: this.status(), method, blockers, unknown }
  }

  private status(): Readiness['status'] {
    const { blockers } = this
    if (blockers.some(({ code }) => code === 'closed')) return 'closed'
    if (blockers.length === 0) return 'ready'
    const passes = ({ code, checks }: Blocker) =>
      code === 'computing' ||
      (code === 'checks' && checks.length > 0 && checks.every(({ state }) => RUNNING.test(state)))
    return blockers.every(passes) ? 'waiting' : 'blocked'
  }
}

const shorten = (text: string, limit = LONGEST): string => cutEnd(text.replaceAll(/\s+/g, ' ').trim(), limit)

export const MERGED: Readiness = { status: 'merged', method: null, blockers: [], unknown: [] }

/** Makes the reading of a pull request about which the host says nothing. */
export const unknownReadiness = (...unknown: string[]): Readiness => ({
  status: 'unknown',
  method: null,
  blockers: [],
  unknown,
})

/** Adds that the branch is not at the commit that may be merged, if both are known and differ. */
export function blockMoved(found: Findings, expected: string | undefined, current: string | undefined): void {
  if (expected !== undefined && current !== undefined && expected !== current)
    found.block('moved', `The branch is not at commit ${expected.slice(0, 12)}, with which the last round ended.`)
}

/**
 * Says that a pull request does not lead into the default branch, which was changed since it was opened; null when it
 * does, and when the host does not say.
 */
export const describeTarget = (base: string | null | undefined, defaultBranch: string | null | undefined) =>
  base && defaultBranch && base !== defaultBranch
    ? `merges into '${base}', but the default branch of the repository is '${defaultBranch}' now: point it there at the ` +
      'git host, or open another one.'
    : null

/** Adds that a pull request does not lead into the default branch. */
export function blockTarget(
  found: Findings,
  base: string | null | undefined,
  defaultBranch: string | null | undefined,
) {
  const text = describeTarget(base, defaultBranch)
  if (text !== null) found.block('target', `It ${text}`)
}

/** Returns the methods to try in turn: the preferred one where it is allowed, then the other allowed ones. */
export function orderMethods(preferred: MergeMethod | '', allowed: readonly MergeMethod[]): MergeMethod[] {
  const known = MERGE_METHODS.filter((method) => allowed.includes(method))
  return known.toSorted((a, b) => Number(b === preferred) - Number(a === preferred))
}

/** Makes a sentence with a count: `(2, 'approval')` is `2 approvals`. */
export const countOf = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`
