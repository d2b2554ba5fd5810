import type { Part } from '../part.ts'
import { buildGo } from '../tools/go.ts'

const VERSION = '3.16.0'

/** The reader of metrics, as the authors of Prometheus check them. */
export const part: Part = {
  name: 'prometheus',
  about: 'the metrics of every process as promtool of Prometheus reads and judges them',
  ci: true,
  install: async (tools) => {
    const promtool = await buildGo(
      {
        name: 'promtool',
        version: VERSION,
        // Prometheus 3.x is version 0.3xx of the Go module.
        source: { module: 'github.com/prometheus/prometheus', version: 'v0.316.0' },
        package: './cmd/promtool',
        // The repository is a workspace of several modules. What discovers targets in clouds takes most of a build.
        env: { GOWORK: 'off', GOFLAGS: '-tags=remove_all_sd' },
        minutes: 30,
      },
      tools,
    )
    return { version: `promtool ${VERSION}`, env: { PROMTOOL: promtool } }
  },
}
