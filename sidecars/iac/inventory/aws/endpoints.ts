import { domainOf } from '../../../../src/aws/partition.ts'
import { type Env, isOn, setting } from '../inputs.ts'
import { InventoryError } from '../types.ts'

/** What the vendor calls a service in its host name and in its variable. */
const SERVICES = {
  sts: { host: 'sts', variable: 'STS' },
  explorer: { host: 'resource-explorer-2', variable: 'RESOURCE_EXPLORER_2' },
} as const

/**
 * Base URL of a service, without a slash at its end: `AWS_ENDPOINT_URL_<SERVICE>`, else `AWS_ENDPOINT_URL`, else the
 * address of the region, which may be its FIPS address. `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` skips the first two.
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

/** Plain http is allowed, as the vendor allows it: a request is signed and does not hold the secret key. */
function checkUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new InventoryError(`${name} is not an http or https address`)
  return text.replace(/\/+$/, '')
}
