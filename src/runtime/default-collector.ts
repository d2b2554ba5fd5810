import { DEFAULT_COLLECTOR_URL } from '../../config/sections/telemetry.ts'
import type { Config } from '../../config/types.ts'
import type { Logger } from '../base/log.ts'
import type { HostResolver } from '../repository/allowed-addresses.ts'

/**
 * The default address names the collector of the compose deployment. Where that host does not exist nobody
 * configured a registry: the built-in prompts serve, and no spans are sent. An address that was chosen must answer.
 */
export async function withoutMissingCollector(config: Config, resolve: HostResolver, log: Logger): Promise<Config> {
  const { collector_url } = config.telemetry
  if (collector_url !== DEFAULT_COLLECTOR_URL) return config
  const found = await resolve(new URL(collector_url).hostname).catch(() => [])
  if (found.length > 0) return config
  log.warn(
    'telemetry.collector_url is at its default and its host does not exist here: built-in prompts serve, no spans are sent',
    {
      collector_url,
    },
  )
  return { ...config, telemetry: { ...config.telemetry, collector_url: '' } }
}
