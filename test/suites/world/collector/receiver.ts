import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { freePort, type Service, startService } from '../tools/service.ts'

/** A value as OTLP writes it in JSON. */
type AnyValue = Partial<Record<'stringValue' | 'intValue' | 'doubleValue' | 'boolValue' | 'arrayValue', unknown>>
interface KeyValue {
  key: string
  value: AnyValue
}

/** A span as the collector hands it on. */
export interface CollectedSpan {
  resource: Record<string, unknown>
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  status: { code?: number; message?: string }
  attributes: Record<string, unknown>
  droppedAttributesCount: number
}

export interface Receiver {
  url: string
  service: Service
  spans: CollectedSpan[]
  close(): Promise<void>
}

const plain = (pairs: KeyValue[] = []): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))

/**
 * The OpenTelemetry Collector, which takes spans over HTTP and hands them on as JSON, so that they are seen as it
 * understood them.
 * @param folder for its configuration
 */
export async function startReceiver(program: string, folder: string): Promise<Receiver> {
  const spans: CollectedSpan[] = []
  const sink = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans)
      for (const scope of scopeSpans)
        for (const span of scope.spans)
          spans.push({
            parentSpanId: '',
            droppedAttributesCount: 0,
            ...span,
            resource: plain(resource.attributes),
            attributes: plain(span.attributes),
          })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve))
  const port = await freePort()
  const config = join(folder, 'collector.yaml')
  await mkdir(folder, { recursive: true })
  await writeFile(
    config,
    `receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
exporters:
  otlp_http:
    endpoint: http://127.0.0.1:${(sink.address() as AddressInfo).port}
    encoding: json
    compression: none
    sending_queue: { enabled: false }
service:
  telemetry: { metrics: { level: none }, logs: { level: info, encoding: json } }
  pipelines: { traces: { receivers: [otlp], exporters: [otlp_http] } }
`,
  )
  const url = `http://127.0.0.1:${port}`
  const service = await startService(program, ['--config', `file:${config}`], {
    ready: () => fetch(`${url}/v1/traces`),
  })
  return {
    url,
    service,
    spans,
    close: async () => {
      await service.stop()
      sink.closeAllConnections()
      await new Promise((resolve) => sink.close(resolve))
    },
  }
}
