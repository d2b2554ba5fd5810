import type { APIRequestContext } from '@playwright/test'
import type { Session } from '../../../console/client/api/client.ts'
import { createSampleStates, rootOfExample } from '../../../dev/sample-state/prepare.ts'
import { bodyOf, EXAMPLES, type ExampleName } from '../../../dev/scripted-model/examples.ts'

const API = '/api/v1'

/** Returns the body of a recorded request, as the API accepts it. */
export async function exampleBody(request: APIRequestContext, name: ExampleName) {
  const config = await (await request.get('/console/config.json')).json()
  const known: string = config.examples[0]?.repo_uri ?? ''
  return bodyOf(EXAMPLES[name], known.replace(/[^/]+\.git$/, `${EXAMPLES[name].sample}.git`))
}

/** Resets the sample repository of a mode to the history that it needs. Only one test at a time may use a sample. */
export async function resetSample(request: APIRequestContext, name: ExampleName): Promise<void> {
  const folder = process.env.CONSOLE_DATA
  if (!folder) throw new Error('CONSOLE_DATA has to name the data folder of the stack')
  const { repo_uri } = await exampleBody(request, name)
  const states = await createSampleStates(folder, [repo_uri])
  const root = rootOfExample(name)
  if (root) await states.reset(root)
}

/** Runs a recorded request to its end and returns the session. */
export const runExample = async (request: APIRequestContext, name: ExampleName): Promise<Session> =>
  runRound(request, EXAMPLES[name].route, await exampleBody(request, name))

/** Starts a round of any kind and waits for its end. */
export async function runRound(request: APIRequestContext, route: string, body: object): Promise<Session> {
  const answer = await request.post(`${API}/iac/${route}`, { data: body })
  if (answer.status() !== 202) throw new Error(`${answer.status()}: ${await answer.text()}`)
  return waitForEnd(request, (await answer.json()).session_id)
}

export async function readSession(request: APIRequestContext, id: string): Promise<Session> {
  return (await request.get(`${API}/sessions?id=${id}&include_history=true`)).json()
}

const END_WITHIN_MS = 60_000

export async function waitForEnd(request: APIRequestContext, id: string): Promise<Session> {
  const end = Date.now() + END_WITHIN_MS
  for (;;) {
    const session = await readSession(request, id)
    if (!session.in_flight) return session
    if (Date.now() > end) throw new Error(`the round of ${id} did not end`)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

/** Returns the id of a session that ran a recorded request; runs it if there is none. */
export async function findOrRunExample(request: APIRequestContext, name: ExampleName): Promise<string> {
  const params = { search: EXAMPLES[name].request, page_size: 20 }
  const list = await request.get(`${API}/sessions/list`, { params })
  const found: { items: { uuid: string; in_flight: boolean }[] } = await list.json()
  const session = found.items.find(({ in_flight }) => !in_flight)
  if (session) return session.uuid
  if (EXAMPLES[name].route !== 'generate') await resetSample(request, name)
  return (await runExample(request, name)).uuid
}
