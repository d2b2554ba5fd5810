import type { KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import { parseJson } from '../../../../src/base/json.ts'
import {
  atHome,
  type Env,
  InventoryError,
  type InventoryRequest,
  parseRsaKey,
  readNamedText,
  serviceUrl,
  setting,
} from '../request.ts'
import { askInstanceRegion, instancePrincipal, type Signer } from './signature.ts'

interface OciAccess {
  region: string
  /** Returns the signer. Called before each request, because token files are renewed in place. */
  signer: () => Promise<Signer>
}

/** Returns an attribute of the engine's provider from its variables. */
const attribute = (env: Env, name: string): string | undefined =>
  setting(env, `TF_VAR_${name}`, `OCI_${name.toUpperCase()}`)

/**
 * Reads the credentials for the provider's `auth`. `realm` is that of the scope, such as `oc1`.
 * https://docs.oracle.com/iaas/Content/terraform/configuring.htm
 */
export async function readOciAccess(request: InventoryRequest, realm: string): Promise<OciAccess> {
  const { env } = request
  const auth = (attribute(env, 'auth') ?? 'ApiKey').toLowerCase()
  if (auth === 'apikey') return readApiKey(env)
  if (auth === 'securitytoken') return readSecurityToken(env)
  if (auth === 'resourceprincipal') return readResourcePrincipal(env)
  if (auth === 'instanceprincipal') {
    const region = regionOf(env, attribute(env, 'region') ? undefined : await askInstanceRegion(request))
    return { region, signer: instancePrincipal(request, region, domainOf(env, region, realm)) }
  }
  throw new InventoryError(
    'scope discovery for OCI knows the auth ApiKey, SecurityToken, ResourcePrincipal and InstancePrincipal; ' +
      'it cannot use another',
  )
}

async function readApiKey(env: Env): Promise<OciAccess> {
  const profile = (await readProfile(env)) ?? {}
  const own = [attribute(env, 'tenancy_ocid'), attribute(env, 'user_ocid'), attribute(env, 'fingerprint')]
  const filed = [profile.tenancy, profile.user, profile.fingerprint]
  const parts = own.every(Boolean) ? own : filed
  if (!parts.every(Boolean))
    throw new InventoryError(
      'no OCI credentials configured for scope discovery; set OCI_TENANCY_OCID, OCI_USER_OCID, OCI_FINGERPRINT ' +
        'and OCI_PRIVATE_KEY_PATH, or give a profile in ~/.oci/config',
    )
  const signer = { keyId: checkKeyId(parts.join('/')), key: await readApiSigningKey(env, profile) }
  return { region: regionOf(env, profile.region), signer: async () => signer }
}

async function readApiSigningKey(env: Env, profile: Profile): Promise<KeyObject> {
  const password = passwordOf(env)
  const text = attribute(env, 'private_key')
  if (text) return parseSigningKey(text.replaceAll('\\n', '\n'), password, 'OCI_PRIVATE_KEY')
  const path = attribute(env, 'private_key_path')
  if (path)
    return parseSigningKey(await readNamedText(path, 'OCI_PRIVATE_KEY_PATH', env), password, 'OCI_PRIVATE_KEY_PATH')
  return readProfileKey(env, profile)
}

const passwordOf = (env: Env) => env.TF_VAR_private_key_password || env.OCI_PRIVATE_KEY_PASSWORD

async function readProfileKey(env: Env, { key_file, pass_phrase, passphrase }: Profile): Promise<KeyObject> {
  if (!key_file)
    throw new InventoryError(
      'no OCI private key: neither OCI_PRIVATE_KEY, OCI_PRIVATE_KEY_PATH nor key_file of the profile is set',
    )
  const password = passwordOf(env) || pass_phrase || passphrase
  return parseSigningKey(await readNamedText(key_file, 'key_file', env), password, 'key_file')
}

/** Reads the profile that `oci session authenticate` writes. */
async function readSecurityToken(env: Env): Promise<OciAccess> {
  const profile = await readProfile(env)
  const path = profile?.security_token_file
  if (!profile || !path)
    throw new InventoryError('the OCI profile has no security_token_file, which the auth SecurityToken needs')
  const key = await readProfileKey(env, profile)
  const signer = async () => ({ keyId: checkKeyId(`ST$${await readNamedText(path, 'security_token_file', env)}`), key })
  return { region: regionOf(env, profile.region), signer }
}

const PRINCIPAL = 'OCI_RESOURCE_PRINCIPAL'

/** Reads version 2.2: token and key in variables, or in files that they name and that are renewed in place. */
async function readResourcePrincipal(env: Env): Promise<OciAccess> {
  const version = setting(env, `${PRINCIPAL}_VERSION`)
  if (version !== '2.2') throw new InventoryError(`scope discovery for OCI needs ${PRINCIPAL}_VERSION 2.2`)
  const read = async (name: string) => {
    const value = setting(env, name)
    return value?.startsWith('/') ? readNamedText(value, name, env) : value
  }
  const needed = async (name: string) => {
    const value = await read(name)
    if (value === undefined) throw new InventoryError(`${name} is not set, which the auth ResourcePrincipal needs`)
    return value
  }
  const signer = async () => {
    const pem = await needed(`${PRINCIPAL}_PRIVATE_PEM`)
    const key = parseSigningKey(pem, await read(`${PRINCIPAL}_PRIVATE_PEM_PASSPHRASE`), `${PRINCIPAL}_PRIVATE_PEM`)
    return { keyId: checkKeyId(`ST$${await needed(`${PRINCIPAL}_RPST`)}`), key }
  }
  return { region: regionOf(env, setting(env, `${PRINCIPAL}_REGION`)), signer }
}

function regionOf(env: Env, fallback: string | undefined): string {
  const region = (attribute(env, 'region') ?? fallback)?.toLowerCase()
  if (!region) throw new InventoryError('OCI_REGION is not set')
  if (!REGION.test(region)) throw new InventoryError('the OCI region is not an identifier such as eu-frankfurt-1')
  return region
}

/** Checks a key id, which is quoted in a header. */
function checkKeyId(text: string): string {
  if (!/^[\x21\x23-\x7e]+$/.test(text))
    throw new InventoryError('the OCI credentials hold characters that no key id has')
  return text
}

function parseSigningKey(pem: string, passphrase: string | undefined, name: string): KeyObject {
  const key = parseRsaKey(pem, passphrase)
  if (!key) throw new InventoryError(`${name} is no RSA private key in PEM, or its passphrase does not open it`)
  return key
}

type Profile = Readonly<Record<string, string | undefined>>

/**
 * Reads one profile; null without a file if none was requested. As in the vendor's clients, nothing comes from DEFAULT.
 * https://docs.oracle.com/iaas/Content/API/Concepts/sdkconfig.htm
 */
async function readProfile(env: Env): Promise<Profile | null> {
  const configuredPath = setting(env, 'OCI_CONFIG_FILE', 'OCI_CLI_CONFIG_FILE')
  const path = atHome(configuredPath ?? '~/.oci/config', env)
  const name = setting(env, 'TF_VAR_config_file_profile', 'OCI_CONFIG_FILE_PROFILE', 'OCI_CLI_PROFILE') ?? 'DEFAULT'
  const text = await readFile(path, 'utf8').catch(() => null)
  const profile = text === null ? undefined : parseProfiles(text).get(name)
  if (profile !== undefined) return profile
  if (configuredPath !== undefined && text === null)
    throw new InventoryError('the file that OCI_CONFIG_FILE names cannot be read')
  if (name !== 'DEFAULT') throw new InventoryError('the OCI configuration file has no such profile as was asked for')
  return null
}

/** Parses `[PROFILE]` and `key=value` lines. Of repeated keys the last one counts. */
function parseProfiles(text: string): Map<string, Profile> {
  const profiles = new Map<string, Record<string, string>>()
  let current: Record<string, string> | undefined
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[(.+)\]\s*$/.exec(line)?.[1]?.trim()
    if (section !== undefined) {
      current = profiles.get(section) ?? {}
      profiles.set(section, current)
    }
    const [, key, value = ''] = /^\s*([^#;=\s][^=]*)=(.*)$/s.exec(line) ?? []
    if (section === undefined && current && key) current[key.trim().toLowerCase()] = value.trim()
  }
  return profiles
}

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
  regionIdentifier: v.pipe(v.string(), v.toLowerCase()),
  realmDomainComponent: v.pipe(v.string(), v.regex(DOMAIN)),
})

/** Returns the services' addresses from `CLIENT_HOST_OVERRIDES`, else the domain of region, override or realm. */
export function ociEndpoints(env: Env, region: string, realm: string) {
  // The variable holds `package.Client=host;package.Client=host`.
  const overrides = (setting(env, 'CLIENT_HOST_OVERRIDES') ?? '').split(';').map((item) => item.split('='))
  const endpoint = (client: string, host: (domain: string) => string) => {
    const own = overrides.find(([name = '']) => name.trim() === client)?.[1]?.trim()
    if (own === undefined) return `https://${host(domainOf(env, region, realm))}`
    return serviceUrl(own.includes('://') ? own : `https://${own}`, 'CLIENT_HOST_OVERRIDES')
  }
  return {
    search: endpoint('oci_resource_search.ResourceSearchClient', (domain) => `query.${region}.oci.${domain}`),
    objectStorage: endpoint('oci_object_storage.ObjectStorageClient', (domain) => `objectstorage.${region}.${domain}`),
  }
}

export function domainOf(env: Env, region: string, realm: string): string {
  const metadata = setting(env, 'OCI_REGION_METADATA')
  const described = metadata === undefined ? undefined : v.safeParse(RegionMetadata, parseJson(metadata))
  if (described?.success === false) throw new InventoryError('OCI_REGION_METADATA is not the description of a region')
  if (described?.output.regionIdentifier === region) return described.output.realmDomainComponent
  const override = setting(env, 'domain_name_override', 'OCI_DEFAULT_REALM')
  if (override !== undefined && DOMAIN.test(override)) return override
  const domain = DOMAINS.get(realm) ?? (NUMBERED.test(realm) ? `oraclecloud${realm.slice(2)}.com` : undefined)
  if (domain === undefined)
    throw new InventoryError(`the OCI realm ${realm} is unknown; describe its region in OCI_REGION_METADATA`)
  return domain
}
