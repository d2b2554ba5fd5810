import type { StoredSeal } from '../../../src/sessions/pins/seal.ts'
import type { BareRun } from '../../run.ts'
import { removePinned } from '../../workspace/pins/pinned.ts'

/**
 * Takes away what the seal stood for: the directory on this disk and the stored copy. Best effort, because
 * without the seal, which goes with the end of the round, neither is ever applied.
 * @param options.in_use an engine may still run in the directory
 */
export async function discardDirectory(
  { context, round, log }: BareRun,
  seal: StoredSeal | null,
  options: { in_use: boolean },
): Promise<void> {
  const remove = removePinned(context.config.paths, round.session.uuid, options).catch((error: unknown) =>
    log.warn('the pinned directory could not be removed', { error }),
  )
  const key = seal?.archive_key ?? null
  const forget =
    key === null
      ? null
      : context.storage
          .delete(key)
          .catch((error: unknown) => log.warn('a stored pin could not be deleted', { key, error }))
  await Promise.all([remove, forget])
}
