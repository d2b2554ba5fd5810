import { type Env, serviceUrl, setting } from '../inputs.ts'
import { InventoryError } from '../types.ts'

/** Addresses with their version and without slash at the end. */
export interface GcpEndpoints {
  resourceManager: string
  cloudAsset: string
  iamCredentials: string
}

export const DEFAULT_UNIVERSE = 'googleapis.com'

/**
 * The addresses of the APIs. As for the engine's provider a variable can give the whole address of one API, version
 * included, and another one the universe of all.
 * @param universe the one that the credentials name, where they do
 */
export function gcpEndpoints(env: Env, universe: string | undefined): GcpEndpoints {
  const domain = universeOf(env) ?? universe ?? DEFAULT_UNIVERSE
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(domain)) throw new InventoryError('GOOGLE_UNIVERSE_DOMAIN is not a domain')
  const endpoint = (name: string, service: string) =>
    serviceUrl(setting(env, name) ?? `https://${service}.${domain}/v1`, name)
  return {
    resourceManager: endpoint('GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT', 'cloudresourcemanager'),
    cloudAsset: endpoint('GOOGLE_CLOUD_ASSET_CUSTOM_ENDPOINT', 'cloudasset'),
    iamCredentials: endpoint('GOOGLE_IAM_CREDENTIALS_CUSTOM_ENDPOINT', 'iamcredentials'),
  }
}

export const universeOf = (env: Env): string | undefined =>
  setting(env, 'GOOGLE_UNIVERSE_DOMAIN', 'GOOGLE_CLOUD_UNIVERSE_DOMAIN')
