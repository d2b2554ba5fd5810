import { PlatformError } from '../base/errors.ts'
import type { Transaction } from '../data/db/sql.ts'

/** The request chooses resources that the session's latest import preview does not list, or there is no preview. */
export class NotPreviewed extends PlatformError {
  /** Positions in the request of the unlisted identifiers; null when the session has no preview. */
  readonly positions: readonly number[] | null
  constructor(message: string, positions: readonly number[] | null) {
    super('NotPreviewed', 422, message)
    this.positions = positions
  }
}

export const PREVIEW_FIRST = 'resource_ids are chosen from an import preview of the session; preview the import first.'

/** Longest identifier that is quoted in full. */
const MAX_NAMED = 300

/** @param id null for one that must not be quoted */
export function notListed(id: string | null): string {
  const short = id !== null && id.length > MAX_NAMED ? `${[...id].slice(0, MAX_NAMED).join('')}…` : id
  return `the latest import preview does not list ${short === null ? 'this one' : `'${short}'`} as a resource to import.`
}

/**
 * Requires that the session's latest import preview lists these identifiers. The session's row is locked, so that no
 * other request begins a round between this check and the opening of the round. Throws `NotPreviewed`.
 */
export async function assertPreviewed(tx: Transaction, sessionUuid: string, ids: readonly string[]): Promise<void> {
  await tx`SELECT id FROM sessions WHERE uuid = ${sessionUuid} FOR UPDATE`
  const [preview] = await tx<{ id: number }[]>`
    SELECT p.id FROM previews p JOIN rounds r ON r.id = p.round_id JOIN sessions s ON s.id = r.session_id
    WHERE s.uuid = ${sessionUuid} AND r.finished_at IS NOT NULL ORDER BY r.number DESC, p.id DESC LIMIT 1`
  if (!preview) throw new NotPreviewed(PREVIEW_FIRST, null)
  const unknown = await tx<{ position: number }[]>`
    SELECT (chosen.position - 1)::integer AS position
    FROM unnest(${[...ids]}::text[]) WITH ORDINALITY AS chosen (id, position)
    WHERE NOT EXISTS (
      SELECT 1 FROM (SELECT unnest(resource_ids) AS id FROM previews WHERE id = ${preview.id}) offered
      WHERE offered.id = chosen.id)
    ORDER BY chosen.position`
  if (unknown.length === 0) return
  throw new NotPreviewed(
    'The latest import preview does not list all of the chosen resources.',
    unknown.map(({ position }) => position),
  )
}
