import type { Context } from '../context.ts'
import type { ClaimedRound } from '../rounds/round.ts'
import { assertHeld } from '../rounds/round.ts'
import { insertedArtifact } from './artifact-rows.ts'
import { outputKey, storeArtifact, TEXT_TYPE } from './artifacts.ts'

/**
 * Stores what an engine job has written, as an artifact of the round. `text` is masked. `exit_code` is null for a job
 * without a result.
 * Errors: `PlatformError` of the object store, `LeaseLost`.
 */
export async function storeEngineOutput(
  context: Pick<Context, 'storage' | 'sql' | 'log'>,
  round: ClaimedRound,
  output: { step: string; exit_code: number | null; text: string },
  signal?: AbortSignal,
): Promise<void> {
  const { sql } = context
  const object = { key: outputKey(round, output.step), body: output.text, content_type: TEXT_TYPE }
  await storeArtifact(
    context,
    object,
    async (fileSizeBytes) => {
      const stored = { uri: object.key, content_type: TEXT_TYPE, file_size_bytes: fileSizeBytes }
      assertHeld(
        await sql`
          WITH artifact AS (${insertedArtifact(sql, round, stored)})
          INSERT INTO engine_outputs (round_id, artifact_id, step, exit_code)
          SELECT ${round.id}, id, ${output.step}, ${output.exit_code}::integer FROM artifact RETURNING id`,
      )
    },
    signal,
  )
}
