import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import { createLogger } from '../../src/base/log.ts'
import { withoutMissingCollector } from '../../src/runtime/prompts.ts'

const ENVIRONMENT = { PLATFORM_SQL_DATABASE_URL: 'postgresql://a@b/c', PLATFORM_IAC_TOKEN: 't', ANTHROPIC_API_KEY: 'k' }
const configOf = (collector_url?: string) =>
  loadConfig(ENVIRONMENT, async () =>
    collector_url === undefined ? null : `telemetry: { collector_url: "${collector_url}" }`,
  )
const nowhere = async () => Promise.reject(new Error('ENOTFOUND'))

describe('the default collector', () => {
  it('is done without, and said so, where its host does not exist', async () => {
    const lines: string[] = []
    const config = await withoutMissingCollector(
      await configOf(),
      nowhere,
      createLogger({ write: (line) => lines.push(line) }),
    )
    expect(config.telemetry.collector_url).toBe('')
    expect(lines.join()).toContain('built-in prompts serve')
  })

  it('is used where it exists', async () => {
    const config = await withoutMissingCollector(
      await configOf(),
      async () => ['10.0.0.7'],
      createLogger({ write: () => {} }),
    )
    expect(config.telemetry.collector_url).toBe('http://phoenix:6006/')
  })

  it('is not what somebody chose: that has to answer', async () => {
    const config = await withoutMissingCollector(
      await configOf('http://collector.invalid/'),
      nowhere,
      createLogger({ write: () => {} }),
    )
    expect(config.telemetry.collector_url).toBe('http://collector.invalid/')
  })
})
