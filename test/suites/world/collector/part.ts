import { join } from 'node:path'
import type { Part } from '../part.ts'
import { buildGo, readModule } from '../tools/go.ts'

const VERSION = '0.165.0'

/** The OpenTelemetry collector, to which operators send spans that more than one tool reads. */
export const part: Part = {
  name: 'collector',
  about: 'spans of real rounds as the OpenTelemetry Collector takes them',
  ci: true,
  install: async (tools) => {
    const { files, mark } = await readModule(join(import.meta.dirname, 'server'))
    const program = await buildGo(
      { name: 'otel-collector', version: `${VERSION}-${mark}`, source: { files }, package: '.', minutes: 20 },
      tools,
    )
    return { version: `OpenTelemetry Collector ${VERSION}`, env: { OTEL_COLLECTOR: program } }
  },
}
