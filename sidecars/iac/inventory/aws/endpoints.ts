import { domainOf } from '../../../../src/base/aws/partition.ts'
import { type Env, isOn, setting } from '../inputs.ts'
import { InventoryError } from '../types.ts'

/** Prefix of the host and end of the variable, as the vendor names its services there. */
const SERVICES = {
  sts: { host: 'sts', variable: 'STS' },
  explorer: { host: 'resource-explorer-2', variable: 'RESOURCE_EXPLORER_2' },
} as const

/**
 * Base URL of a service, without trailing slash. `AWS_ENDPOINT_URL_<SERVICE>`, then `AWS_ENDPOINT_URL`, go before the
 * address of the region, unless `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` says otherwise; FIPS addresses are those of regions.
 * Errors: `InventoryError` for an override that is no http(s) URL.
 */
export function endpointOf(service: keyof typeof SERVICES, region: string, env: Env): string {
  const { host, variable } = SERVICES[service]
  if (!isOn(env, 'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS')) {
    for (const name of [`AWS_ENDPOINT_URL_${variable}`, 'AWS_ENDPOINT_URL']) {
      const override = setting(env, name)
      if (override !== undefined) return checkUrl(name, override)
    }
  }
  return `https://${host}${isOn(env, 'AWS_USE_FIPS_ENDPOINT') ? '-fips' : ''}.${region}.${domainOf(region)}`
}

/** Plain http is allowed, as the vendor does: what is sent is signed and holds no secret key. */
function checkUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new InventoryError(`${name} is not an http or https address`)
  return text.replace(/\/+$/, '')
}
