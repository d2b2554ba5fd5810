import { createServer } from 'node:http'
import { type Listening, listening, readBytes, sendJson } from './http.ts'

export interface FakeRegistry extends Listening {
  /** Texts by prompt name. */
  texts: Map<string, string>
  /** `<version id> <tag>`. */
  tags: Set<string>
  /** `<method> <path>` of every request, in order. */
  requests: string[]
  /** Bodies of `POST v1/traces`. */
  traces: Buffer[]
}

/** Prompt registry and collector by section 4.3 of the contract: four routes, tags answered without a body. */
export async function startFakeRegistry(): Promise<FakeRegistry> {
  const versions = new Map<string, { id: string; model_name: unknown; template: unknown }>()
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    fake.requests.push(`${request.method} ${path}`)
    const bytes = await readBytes(request)
    if (path === '/v1/traces') {
      fake.traces.push(bytes)
      return void response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    }
    const latest = /^\/v1\/prompts\/([^/]+)\/latest$/.exec(path)?.[1]
    const tagged = /^\/v1\/prompts\/([^/]+)\/tags\/(\w+)$/.exec(path)
    const name = latest ?? tagged?.[1]
    if (request.method === 'GET' && name !== undefined) {
      const version = versions.get(name)
      const found = version && (latest !== undefined || fake.tags.has(`${version.id} ${tagged?.[2]}`))
      return found ? sendJson(response, 200, { data: version }) : void response.writeHead(404).end('Prompt not found')
    }
    if (request.method === 'POST' && path === '/v1/prompts') {
      const { prompt, version } = JSON.parse(bytes.toString('utf8'))
      const id = `version-${versions.size + 1}`
      versions.set(prompt.name, { id, model_name: version.model_name, template: version.template })
      fake.texts.set(prompt.name, version.template.messages[0].content[0].text)
      return sendJson(response, 200, { data: { id, ...version } })
    }
    const id = /^\/v1\/prompt_versions\/([^/]+)\/tags$/.exec(path)?.[1]
    if (request.method === 'POST' && id !== undefined) {
      fake.tags.add(`${id} ${JSON.parse(bytes.toString('utf8')).name}`)
      return void response.writeHead(204).end()
    }
    response.writeHead(404).end()
  })
  const fake: FakeRegistry = {
    ...(await listening(server)),
    texts: new Map(),
    tags: new Set(),
    requests: [],
    traces: [],
  }
  return fake
}
