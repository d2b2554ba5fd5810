import type { Running, ServerAnswer, ServerRequest } from '../../../dev/server.ts'
import { startFake } from './http.ts'

export interface FakeRegistry extends Running {
  /** Texts by prompt name. */
  texts: Map<string, string>
  /** `<version id> <tag>`. */
  tags: Set<string>
  /** `<method> <path>` of every request, in order. */
  requests: string[]
  /** Bodies of `POST v1/traces`. */
  traces: Buffer[]
}

/** Starts prompt registry and collector as deployments have them: four routes, with empty answers to tags. */
export async function startFakeRegistry(): Promise<FakeRegistry> {
  const versions = new Map<string, { id: string; model_name: unknown; template: unknown }>()
  const respond = async (request: ServerRequest): Promise<ServerAnswer> => {
    const path = decodeURIComponent(request.path)
    fake.requests.push(`${request.method} ${path}`)
    const bytes = await request.body()
    if (path === '/v1/traces') {
      fake.traces.push(bytes)
      return { status: 200, headers: { 'content-type': 'application/x-protobuf' } }
    }
    const latest = /^\/v1\/prompts\/([^/]+)\/latest$/.exec(path)?.[1]
    const tagged = /^\/v1\/prompts\/([^/]+)\/tags\/(\w+)$/.exec(path)
    const name = latest ?? tagged?.[1]
    if (request.method === 'GET' && name !== undefined) {
      const version = versions.get(name)
      const found = version && (latest !== undefined || fake.tags.has(`${version.id} ${tagged?.[2]}`))
      return found ? { status: 200, body: { data: version } } : { status: 404, body: 'Prompt not found' }
    }
    if (request.method === 'POST' && path === '/v1/prompts') {
      const { prompt, version } = JSON.parse(bytes.toString('utf8'))
      const id = `version-${versions.size + 1}`
      versions.set(prompt.name, { id, model_name: version.model_name, template: version.template })
      fake.texts.set(prompt.name, version.template.messages[0].content[0].text)
      return { status: 200, body: { data: { id, ...version } } }
    }
    const id = /^\/v1\/prompt_versions\/([^/]+)\/tags$/.exec(path)?.[1]
    if (request.method === 'POST' && id !== undefined) {
      fake.tags.add(`${id} ${JSON.parse(bytes.toString('utf8')).name}`)
      return { status: 204 }
    }
    return { status: 404 }
  }
  const fake: FakeRegistry = {
    ...(await startFake(respond)),
    texts: new Map(),
    tags: new Set(),
    requests: [],
    traces: [],
  }
  return fake
}
