import * as v from 'valibot'
import { askShape } from '../http.ts'
import { serviceUrl, setting } from '../inputs.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'

/** The addresses of one Azure cloud, without a trailing slash. */
export interface AzureEnvironment {
  login: string
  /** Resource Manager, Resource Graph included. */
  management: string
  audience: string
}

const environmentAt = (login: string, management: string): AzureEnvironment => ({
  login: `https://${login}`,
  management: `https://${management}`,
  audience: `https://${management}`,
})

const PUBLIC = environmentAt('login.microsoftonline.com', 'management.azure.com')
const US_GOVERNMENT = environmentAt('login.microsoftonline.us', 'management.usgovcloudapi.net')
const CHINA = environmentAt('login.chinacloudapi.cn', 'management.chinacloudapi.cn')

const ENVIRONMENTS: ReadonlyMap<string, AzureEnvironment> = new Map([
  ['public', PUBLIC],
  ['azurepubliccloud', PUBLIC],
  ['usgovernment', US_GOVERNMENT],
  ['azureusgovernmentcloud', US_GOVERNMENT],
  ['china', CHINA],
  ['azurechinacloud', CHINA],
])

/** Selects the cloud as the engine's provider does: `ARM_METADATA_HOSTNAME`, else `ARM_ENVIRONMENT`. */
export async function readAzureEnvironment(request: InventoryRequest): Promise<AzureEnvironment> {
  const host = setting(request.env, 'ARM_METADATA_HOSTNAME', 'ARM_METADATA_HOST')
  if (host !== undefined) return readMetadata(request, host)
  const name = setting(request.env, 'ARM_ENVIRONMENT') ?? 'public'
  const environment = ENVIRONMENTS.get(name.toLowerCase())
  if (!environment)
    throw new InventoryError(`ARM_ENVIRONMENT names no Azure cloud; known are public, usgovernment and china`)
  return environment
}

const Description = v.object({
  name: v.optional(v.string()),
  authentication: v.object({ loginEndpoint: v.string(), audiences: v.pipe(v.array(v.string()), v.minLength(1)) }),
  resourceManager: v.string(),
})
const SOURCE = 'Azure metadata service'

/** Reads one description or a list of them. https://learn.microsoft.com/rest/api/resources/metadata */
async function readMetadata(request: InventoryRequest, host: string): Promise<AzureEnvironment> {
  const base = serviceUrl(host.includes('://') ? host : `https://${host}`, 'ARM_METADATA_HOSTNAME')
  const url = `${base}/metadata/endpoints?api-version=2022-09-01`
  const all = [await askShape(v.union([Description, v.array(Description)]), { request, source: SOURCE, url })].flat()
  const wanted = setting(request.env, 'ARM_ENVIRONMENT')?.toLowerCase()
  const description = all.find(({ name }) => wanted !== undefined && name?.toLowerCase() === wanted) ?? all[0]
  if (!description) throw new InventoryError(`${SOURCE} describes no cloud`)
  return {
    login: serviceUrl(description.authentication.loginEndpoint, `the login endpoint of the ${SOURCE}`),
    management: serviceUrl(description.resourceManager, `the resource manager of the ${SOURCE}`),
    audience: (description.authentication.audiences[0] ?? description.resourceManager).replace(/\/+$/, ''),
  }
}
