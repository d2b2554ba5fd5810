import { identityOf } from '../../../src/plan/imports/identifiers.ts'
import type { Failure, Pair } from '../../../src/plan/imports/pairs.ts'
import type { Excluded } from '../../../src/plan/imports/unmanaged.ts'
import {
  markImported,
  type RoundImport,
  readImports,
  recordImport,
  recordSelection,
} from '../../../src/sessions/round-imports.ts'
import type { Kit } from '../../kit/kit.ts'

interface Entry extends RoundImport {
  /** Why the last try failed. */
  error: string | null
  /** Somebody else manages it by now. */
  taken: string | null
}

/**
 * What came of each selected identifier. It stands in the database too, written before and after each
 * import, so that a round that is taken up again imports nothing twice.
 */
export interface Ledger {
  /** Whether the identifier was selected. */
  has(resource_id: string): boolean
  /** In the order of the selection. */
  pending(): string[]
  imported(): Pair[]
  /** Everything that is not imported, with the reason. */
  failed(): Failure[]
  /** Left out after the selection. */
  taken(): Excluded[]
  /** How many were selected. */
  readonly size: number
  /** To be called before the engine gets the import. Errors: `LeaseLost`. */
  begin(pair: Pair, commit: string): Promise<void>
  /** Errors: `LeaseLost`. */
  succeed(resource_id: string): Promise<void>
  fail(failure: Failure): void
  take(resource_id: string, details: string): void
  /** The address an identifier was last handed to the engine with; null when it never was. */
  addressOf(resource_id: string): string | null
  /** Records as imported what was handed to the engine and is managed now. Errors: `LeaseLost`. */
  settle(managed: readonly string[]): Promise<void>
}

export async function openLedger(kit: Kit, ids: readonly string[]): Promise<Ledger> {
  const { context, round } = kit.run
  await recordSelection(context.sql, round, ids)
  return createLedger(
    kit,
    ids.map((resource_id, position) => ({ position, resource_id, address: null, imported: false })),
  )
}

/** The ledger of an interrupted attempt that handed at least one import to the engine; else null. */
export async function resumeLedger(kit: Kit): Promise<Ledger | null> {
  const { context, round } = kit.run
  if (round.attempt <= 1) return null
  const rows = await readImports(context.sql, round)
  return rows.some(({ address }) => address !== null) ? createLedger(kit, rows) : null
}

const UNADDRESSED = 'No resource block was written for it.'

function createLedger({ run }: Kit, rows: readonly RoundImport[]): Ledger {
  const { context, round } = run
  const same = identityOf(round.session.provider)
  const entries: Entry[] = rows.map((row) => ({ ...row, error: null, taken: null }))
  const byId = new Map(entries.map((entry) => [entry.resource_id, entry]))
  const entryOf = (resource_id: string): Entry => {
    const entry = byId.get(resource_id)
    if (!entry) throw new Error('an identifier that was not selected')
    return entry
  }
  const open = () => entries.filter(({ imported, taken }) => !imported && taken === null)
  const succeed = async (resource_id: string) => {
    const entry = entryOf(resource_id)
    await markImported(context.sql, round, entry.position)
    Object.assign(entry, { imported: true, error: null })
  }
  return {
    size: entries.length,
    has: (resource_id) => byId.has(resource_id),
    pending: () => open().map(({ resource_id }) => resource_id),
    imported: () =>
      entries.flatMap(({ imported, address, resource_id }) =>
        imported && address !== null ? [{ address, resource_id }] : [],
      ),
    failed: () =>
      open().map(({ address, resource_id, error }) => ({
        address: address ?? '',
        resource_id,
        error: error ?? UNADDRESSED,
      })),
    taken: () => entries.flatMap(({ resource_id, taken }) => (taken === null ? [] : [{ resource_id, details: taken }])),
    begin: async ({ address, resource_id }, commit) => {
      const entry = entryOf(resource_id)
      await recordImport(context.sql, round, { position: entry.position, address, commit })
      entry.address = address
    },
    succeed,
    fail: ({ resource_id, error }) => {
      entryOf(resource_id).error = error
    },
    take: (resource_id, details) => {
      entryOf(resource_id).taken = details
    },
    addressOf: (resource_id) => entryOf(resource_id).address,
    settle: async (managed) => {
      const known = new Set(managed.map(same))
      for (const { resource_id, address } of open())
        if (address !== null && known.has(same(resource_id))) await succeed(resource_id)
    },
  }
}
