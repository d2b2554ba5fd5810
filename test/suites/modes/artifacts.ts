import { AwsClient } from 'aws4fetch'
import { basicAuthorization } from '../../../src/base/http.ts'
import { createPullRequest } from '../../../src/pull-requests/create.ts'
import { loadAggregate } from '../../../src/sessions/aggregate.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { trust } from '../../repository/support.ts'
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

/** Makes a client of the object store with the keys in the text of a credentials file. */
export function storeClient(text: string, changes: { sessionToken?: string } = {}): AwsClient {
  const value = (name: string) => new RegExp(`^${name} = (.+)$`, 'm').exec(text)?.[1] ?? ''
  return new AwsClient({
    accessKeyId: value('aws_access_key_id'),
    secretAccessKey: value('aws_secret_access_key'),
    sessionToken: value('aws_session_token'),
    service: 's3',
    region: 'us-east-1',
    retries: 0,
    ...changes,
  })
}

/** Reads the plan documents that the detail of a session names, oldest first; null for each missing one. */
export async function documentsOf(stack: Stack, uuid: string): Promise<unknown[]> {
  const session = await loadAggregate(stack.context(scriptedLlm({})), uuid, { includeHistory: true })
  const urls = session?.rounds.flatMap(({ plans }) => plans.map(({ document_url }) => document_url)) ?? []
  return await Promise.all(urls.map(async (url) => (url === null ? null : await (await fetch(url)).json())))
}

/** Reads the impact in the last report of a session. */
export async function lastImpact(stack: Stack, uuid: string) {
  const report = (await textsOf(stack, uuid, 'report')).at(-1)
  const impact: { summary: string; bullet_points: { title: string; description: string }[] } = JSON.parse(
    report ?? '',
  ).potential_impact
  return impact
}

/** Reads a point of the impact in the last report of a session; null when the report has none with this title. */
export async function impactPoint(stack: Stack, uuid: string, title: string): Promise<string | null> {
  const { bullet_points } = await lastImpact(stack, uuid)
  return bullet_points.find((point) => point.title === title)?.description ?? null
}

/** Opens the pull request of a session at the git host, whose certificate is trusted from now on. Returns its text. */
export async function pullRequestText(stack: Stack, uuid: string, repo_uri: string): Promise<string> {
  trust(stack.git_host.caPem)
  const generate_pull_request = { args: { title: 'Add a second greeting', description: 'For the logs.' } }
  const { id } = await createPullRequest(stack.context(scriptedLlm({ generate_pull_request })), uuid)
  const path = new URL(repo_uri).pathname.replace(/^\/|\.git$/g, '')
  const { user, token } = stack.config.git
  const headers = { authorization: basicAuthorization(user, token) }
  const answer = await fetch(`${stack.git_host.api_url}/repos/${path}/pulls/${id}`, { headers })
  return ((await answer.json()) as { body: string }).body
}
