import type { StatusHub } from '../events/types.ts'
import type { Registry } from './registry.ts'

/** Event streams that are open on this process now. */
export const watchStreams = (registry: Registry, hub: StatusHub): void =>
  registry.gauges([{ name: 'platform_open_streams', help: 'Open event streams.' }], () => ({
    platform_open_streams: [{ labels: {}, value: hub.open_streams }],
  }))
