import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Part } from '../part.ts'
import { buildGo } from '../tools/go.ts'

const VERSION = '0.165.0'
const SERVER = join(import.meta.dirname, 'server')

/** Where operators send spans that more than one tool reads. */
export const part: Part = {
  name: 'collector',
  about: 'spans of real rounds as the OpenTelemetry Collector takes them',
  ci: true,
  install: async (tools) => {
    const files = async () =>
      Object.fromEntries(
        await Promise.all(
          (await readdir(SERVER)).map(async (name) => [name, await readFile(join(SERVER, name), 'utf8')] as const),
        ),
      )
    const program = await buildGo(
      { name: 'otel-collector', version: VERSION, source: { files }, package: '.', minutes: 20 },
      tools,
    )
    return { version: `OpenTelemetry Collector ${VERSION}`, env: { OTEL_COLLECTOR: program } }
  },
}
