import { loadAggregate } from '../../../src/sessions/aggregate.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import type { Stack } from './stack.ts'

/** Reads kind, text and metadata of every artifact of a session through presigned URLs, oldest first. */
export async function artifactsOf(stack: Stack, uuid: string) {
  const { sql } = stack.database
  const rows = await sql<{ uri: string; kind: string }[]>`
    SELECT a.uri, t.kind FROM artifacts a JOIN (
      SELECT artifact_id, round_id, 'plan' AS kind FROM engine_plans UNION ALL
      SELECT artifact_id, round_id, 'report' FROM reports UNION ALL
      SELECT artifact_id, round_id, 'check' FROM compliance_checks UNION ALL
      SELECT artifact_id, round_id, 'change' FROM code_changes UNION ALL
      SELECT artifact_id, round_id, 'preview' FROM previews
    ) t ON t.artifact_id = a.id JOIN rounds r ON r.id = t.round_id JOIN sessions s ON s.id = r.session_id
    WHERE s.uuid = ${uuid} ORDER BY a.id`
  const { storage } = stack.context(scriptedLlm({}))
  return await Promise.all(
    rows.map(async ({ uri, kind }) => {
      const response = await fetch(await storage.presign(uri))
      return {
        kind,
        text: await response.text(),
        type: response.headers.get('x-amz-meta-type'),
        new_file: response.headers.get('x-amz-meta-new_file'),
      }
    }),
  )
}

export const textsOf = async (stack: Stack, uuid: string, kind: string) =>
  (await artifactsOf(stack, uuid)).filter((artifact) => artifact.kind === kind).map(({ text }) => text)

/** Reads the plan documents that the detail of a session names, oldest first; null for each missing one. */
export async function documentsOf(stack: Stack, uuid: string): Promise<unknown[]> {
  const session = await loadAggregate(stack.context(scriptedLlm({})), uuid, { includeHistory: true })
  const urls = session?.rounds.flatMap(({ plans }) => plans.map(({ document_url }) => document_url)) ?? []
  return await Promise.all(urls.map(async (url) => (url === null ? null : await (await fetch(url)).json())))
}
