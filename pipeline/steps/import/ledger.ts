import type { Misplaced, SeenObject } from '../../../src/plan/imports/compare-imported.ts'
import { identityOf } from '../../../src/plan/imports/inventory.ts'
import type { Failure, Pair } from '../../../src/plan/imports/pairs.ts'
import {
  markImported,
  type RoundImport,
  readImports,
  recordImport,
  recordRemoval,
  recordSelection,
} from '../../../src/rounds/run-records.ts'
import type { Kit } from '../../kit/kit.ts'

interface Entry extends RoundImport {
  /** The reason why its last import failed. */
  error: string | null
  /** The address under which somebody else has imported it since the selection; null otherwise. */
  managedElsewhere: string | null
  /** Why its import stays in the state although it is of another object; null otherwise. */
  misplaced: string | null
  /** Its last import that was taken out of the state again; null without one. */
  takenOut: Failure | null
}

export type Ledger = ReturnType<typeof createLedger>

/** Records the selection and returns a ledger in which all of it is pending. Errors: `LeaseLost`. */
export async function openLedger(kit: Kit, ids: readonly string[]): Promise<Ledger> {
  const { context, round } = kit.run
  await recordSelection(context.sql, round, ids)
  return createLedger(
    kit,
    ids.map((resourceId, position) => ({ position, resource_id: resourceId, address: null, imported: false })),
  )
}

/** Returns the ledger of an interrupted attempt that started at least one import; null when there is none. */
export async function resumeLedger(kit: Kit): Promise<Ledger | null> {
  const { context, round } = kit.run
  if (round.attempt <= 1) return null
  const rows = await readImports(context.sql, round)
  return rows.some(({ address }) => address !== null) ? createLedger(kit, rows) : null
}

/** Says for the report what became of an import that was taken out of the state again. */
const describeTakenOut = ({ address, error }: Failure) =>
  `It was imported as ${address} and taken out of the state again: ${error}.`

const UNADDRESSED = 'No resource block was written for it.'

/** Tracks selected identifiers in the database, so that a round that is taken over imports nothing twice. */
function createLedger({ run }: Kit, rows: readonly RoundImport[]) {
  const { context, round } = run
  const toIdentity = identityOf(round.session.provider)
  const entries: Entry[] = rows.map((row) => ({
    ...row,
    address: row.address || null,
    ...{ error: null, managedElsewhere: null, misplaced: null, takenOut: null },
  }))
  /** What plans have shown of objects that were imported to the wrong block. */
  const objects = new Map<string, SeenObject>()
  const foreign = new Set<string>()
  const seen = new Set<string>()
  const byId = new Map(entries.map((entry) => [entry.resource_id, entry]))
  const entryOf = (resourceId: string): Entry => {
    const entry = byId.get(resourceId)
    if (!entry) throw new Error('an identifier that was not selected')
    return entry
  }
  const openEntries = () => entries.filter(({ imported, managedElsewhere }) => !imported && managedElsewhere === null)
  /** Records that the identifier was imported. Errors: `LeaseLost`. */
  const succeed = async (resourceId: string) => {
    const entry = entryOf(resourceId)
    await markImported(context.sql, round, entry.position)
    Object.assign(entry, { imported: true, error: null, takenOut: null })
  }
  return {
    size: entries.length,
    has: (resourceId: string) => byId.has(resourceId),
    /** Returns the identifiers that wait for an import, in the order of the selection. */
    pending: () => openEntries().map(({ resource_id }) => resource_id),
    imported: () =>
      entries.flatMap(({ imported, address, resource_id }) =>
        imported && address !== null ? [{ address, resource_id }] : [],
      ),
    /** Returns everything that waits for an import, with the reason. */
    failed: () =>
      openEntries().map(({ address, resource_id, error, takenOut }) => ({
        address: address ?? takenOut?.address ?? '',
        resource_id,
        error: takenOut === null ? (error ?? UNADDRESSED) : describeTakenOut(takenOut),
      })),
    /** Returns the identifiers that somebody else has imported since the selection. */
    managedElsewhere: () =>
      entries.flatMap(({ resource_id, managedElsewhere: details }) =>
        details === null ? [] : [{ resource_id, details }],
      ),
    /** Records that the engine is about to import the pair; must be called before. Errors: `LeaseLost`. */
    begin: async ({ address, resource_id }: Pair, commit: string) => {
      const entry = entryOf(resource_id)
      await recordImport(context.sql, round, { position: entry.position, address, commit })
      entry.address = address
    },
    succeed,
    /** Notes why an import failed; the identifier stays pending. */
    fail: ({ resource_id, error }: Failure) => {
      entryOf(resource_id).error = error
    },
    /**
     * Records that the engine is about to take an import out of the state; must be called before. Errors: `LeaseLost`;
     * an error for what this round has not imported, which nothing may take out.
     */
    beginRemoval: async ({ address, resource_id, object }: Misplaced) => {
      const entry = byId.get(resource_id)
      if (!entry?.imported || entry.address !== address) throw new Error('this round has not imported the address')
      await recordRemoval(context.sql, round, { position: entry.position, address })
      entry.imported = false
      objects.set(resource_id, object)
    },
    /** Records that an import was taken out of the state; the identifier is pending again. Errors: `LeaseLost`. */
    endRemoval: async ({ address, resource_id, error }: Failure) => {
      const entry = entryOf(resource_id)
      await recordRemoval(context.sql, round, { position: entry.position, address: '' })
      Object.assign(entry, { address: null, error: null, takenOut: { address, resource_id, error } })
    },
    objects: (): ReadonlyMap<string, SeenObject> => objects,
    /** Notes an import that stays in the state although it is of another object. */
    noteMisplaced: ({ resource_id, error }: Failure) => {
      entryOf(resource_id).misplaced = error
      seen.add(resource_id)
    },
    /** Returns the imports that stay in the state although they are of another object. */
    misplaced: (): Failure[] =>
      entries.flatMap(({ imported, address, resource_id, misplaced }) =>
        imported && address !== null && misplaced !== null ? [{ address, resource_id, error: misplaced }] : [],
      ),
    /** Notes pairs whose object was read and fits the block. */
    noteSeen: (pairs: readonly Pair[]) => {
      for (const { resource_id } of pairs) seen.add(resource_id)
    },
    hasSeen: (resourceId: string) => seen.has(resourceId),
    /** Notes identifiers that were named and are not among the selected; those that are stay out. */
    noteForeign: (ids: readonly string[]) => {
      const own = new Set(entries.map(({ resource_id }) => toIdentity(resource_id)))
      for (const id of ids) if (!own.has(toIdentity(id))) foreign.add(id)
    },
    foreign: () => [...foreign],
    markManagedElsewhere: (resourceId: string, details: string) => {
      entryOf(resourceId).managedElsewhere = details
    },
    /** Returns the address of the last import of the identifier; null without one. */
    addressOf: (resourceId: string) => entryOf(resourceId).address,
    /** Records started imports as done whose identifiers the state now manages. Errors: `LeaseLost`. */
    settle: async (managed: readonly string[]) => {
      const managedIdentities = new Set(managed.map(toIdentity))
      for (const { resource_id, address } of openEntries())
        if (address !== null && managedIdentities.has(toIdentity(resource_id))) await succeed(resource_id)
    },
  }
}
