import * as v from 'valibot'
import { type Env, serviceUrl, setting } from '../inputs.ts'
import { InventoryError } from '../types.ts'

/** Domains of the realms that are not `oraclecloud<number>.com`. */
const DOMAINS: ReadonlyMap<string, string> = new Map([
  ['oc1', 'oraclecloud.com'],
  ['oc2', 'oraclegovcloud.com'],
  ['oc3', 'oraclegovcloud.com'],
  ['oc4', 'oraclegovcloud.uk'],
  ['oc19', 'oraclecloud.eu'],
])
const NUMBERED = /^oc(8|9|10|14|15|20|21|23|24|26|29|35|42|51|52)$/
const REGION = /^[a-z]{2,}(-[a-z0-9]+)+$/
const DOMAIN = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i

const RegionMetadata = v.object({
  regionIdentifier: v.string(),
  realmDomainComponent: v.pipe(v.string(), v.regex(DOMAIN)),
})

/** Returns the services' addresses from `CLIENT_HOST_OVERRIDES`, else the domain of region, override or realm. */
export function ociEndpoints(env: Env, region: string, realm: string) {
  const endpoint = (client: string, host: (domain: string) => string) => {
    const own = hostOverride(setting(env, 'CLIENT_HOST_OVERRIDES') ?? '', client)
    if (own === undefined) return `https://${host(domainOf(env, region, realm))}`
    return serviceUrl(own.includes('://') ? own : `https://${own}`, 'CLIENT_HOST_OVERRIDES')
  }
  return {
    search: endpoint('oci_resource_search.ResourceSearchClient', (domain) => `query.${region}.oci.${domain}`),
    objectStorage: endpoint('oci_object_storage.ObjectStorageClient', (domain) => `objectstorage.${region}.${domain}`),
  }
}

export function checkRegion(region: string): string {
  const identifier = region.toLowerCase()
  if (!REGION.test(identifier)) throw new InventoryError('the OCI region is not an identifier such as eu-frankfurt-1')
  return identifier
}

export function domainOf(env: Env, region: string, realm: string): string {
  const described = describedDomain(setting(env, 'OCI_REGION_METADATA'), region)
  if (described !== undefined) return described
  const override = setting(env, 'domain_name_override', 'OCI_DEFAULT_REALM')
  if (override !== undefined && DOMAIN.test(override)) return override
  const domain = DOMAINS.get(realm) ?? (NUMBERED.test(realm) ? `oraclecloud${realm.slice(2)}.com` : undefined)
  if (domain === undefined)
    throw new InventoryError(`the OCI realm ${realm} is unknown; describe its region in OCI_REGION_METADATA`)
  return domain
}

/** Reads the host of a client from `package.Client=host;package.Client=host`. */
const hostOverride = (text: string, client: string): string | undefined =>
  text
    .split(';')
    .map((item) => item.split('='))
    .find(([name = '']) => name.trim() === client)?.[1]
    ?.trim()

function describedDomain(text: string | undefined, region: string): string | undefined {
  if (text === undefined) return undefined
  try {
    const described = v.parse(RegionMetadata, JSON.parse(text))
    return described.regionIdentifier.toLowerCase() === region ? described.realmDomainComponent : undefined
  } catch {
    throw new InventoryError('OCI_REGION_METADATA is not the description of a region')
  }
}
