import { type AwsCredentials, type ChainLink, type ChainTools, credentialFault, readNamedFile } from './credentials.ts'
import { fromContainer, fromInstance, fromVariables } from './environment.ts'
import { assumeWithKeys, assumeWithToken, type Role } from './sts.ts'

/** The settings of each section: section name to key to value. */
type Ini = Map<string, Map<string, string>>

/**
 * Parses the INI dialect of the shared files: comments are on their own lines or after a blank, and keys are
 * case-insensitive. Indented continuation lines are skipped, since no setting that is read here has any.
 */
function parseIni(text: string): Ini {
  const sections: Ini = new Map()
  let current: Map<string, string> | null = null
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    if (/^\s|^$|^[#;]/.test(line)) continue
    const heading = /^\[([^\]]+)\]/.exec(line)?.[1]
    if (heading !== undefined) {
      const name = sectionName(heading)
      current = sections.get(name) ?? new Map()
      sections.set(name, current)
      continue
    }
    const at = line.indexOf('=')
    if (at > 0) current?.set(line.slice(0, at).trim().toLowerCase(), parseSetting(line.slice(at + 1)))
  }
  return sections
}

/** Normalizes a section name: `profile "my name"` and `profile   my name` both become `profile my name`. */
const sectionName = (heading: string) =>
  heading
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/^(profile )?["'](.*)["']$/g, '$1$2')

const parseSetting = (text: string) => text.replace(/\s[#;].*$/, '').trim()

type Profile = ReadonlyMap<string, string>

/** Reads the profile that `AWS_PROFILE` names, or `default`, from the shared credentials and config files. */
export const fromProfile: ChainLink = async (tools) => {
  const name = tools.aws.profile || 'default'
  const find = await readProfiles(tools)
  if (find(name)) return resolveProfile(tools, find, name, [])
  if (tools.aws.profile === '') return null
  throw credentialFault(`profile ${name} of AWS_PROFILE is in neither of the shared files`)
}

type FindProfile = (name: string) => Profile | null

/** Reads both shared files. If both define a key of a profile, the credentials file wins. */
async function readProfiles(tools: ChainTools): Promise<FindProfile> {
  const read = async (path: string, what: string) => parseIni(path === '' ? '' : await readNamedFile(tools, path, what))
  const keys = await read(tools.aws.credentials_file, 'the shared credentials file')
  const config = await read(tools.aws.config_file, 'the shared config file')
  return (name) => {
    const settings = config.get(`profile ${name}`) ?? (name === 'default' ? config.get(name) : undefined)
    const own = keys.get(name)
    return settings || own ? new Map([...(settings ?? []), ...(own ?? [])]) : null
  }
}

/**
 * Resolves the credentials of one profile; null when it defines none.
 * @param visited profiles that led here through `source_profile`, to detect a cycle
 */
async function resolveProfile(
  tools: ChainTools,
  find: FindProfile,
  name: string,
  visited: readonly string[],
): Promise<AwsCredentials | null> {
  const profile = find(name)
  if (!profile) throw credentialFault(`profile ${name}, a source_profile, is in neither of the shared files`)
  const value = (key: string) => profile.get(key) ?? ''
  // A profile may assume a role with its own keys by naming itself as the source.
  if (visited.at(-1) === name) return profileKeys(name, value)
  if (visited.includes(name)) throw credentialFault(`profile ${name} leads back to itself through source_profile`)
  if (value('role_arn') !== '') return assumeProfileRole(tools, find, name, value, visited)
  const keys = profileKeys(name, value)
  if (keys) return keys
  if (tools.delegates) {
    const signedIn = value('sso_session') !== '' || value('sso_start_url') !== ''
    if (signedIn) return tools.delegates.singleSignOn(name)
    const command = value('credential_process')
    if (command !== '') return tools.delegates.process(name, command)
  }
  const unsupported = ['sso_session', 'sso_start_url', 'credential_process', 'login_session'].find(
    (key) => value(key) !== '',
  )
  if (unsupported) throw credentialFault(`profile ${name} uses ${unsupported}, which is not supported here`)
  return null
}

type ReadSetting = (key: string) => string

function profileKeys(name: string, value: ReadSetting): AwsCredentials | null {
  const [access_key, secret_key] = [value('aws_access_key_id'), value('aws_secret_access_key')]
  if (access_key === '' && secret_key === '') return null
  if (access_key === '' || secret_key === '') throw credentialFault(`profile ${name} has one of two keys`)
  return { access_key, secret_key, session_token: value('aws_session_token') || undefined }
}

async function assumeProfileRole(
  tools: ChainTools,
  find: FindProfile,
  name: string,
  value: ReadSetting,
  visited: readonly string[],
): Promise<AwsCredentials> {
  const role: Role = {
    arn: value('role_arn'),
    session_name: value('role_session_name'),
    external_id: value('external_id'),
  }
  if (value('mfa_serial') !== '') throw credentialFault(`profile ${name} uses mfa_serial, which is not supported here`)
  const tokenFile = value('web_identity_token_file')
  if (tokenFile !== '') {
    const what = `the web_identity_token_file of profile ${name}`
    const token = await readNamedFile(tools, tokenFile, what)
    if (token === '') throw credentialFault(`${what} is missing or empty`)
    return assumeWithToken(tools, role, token)
  }
  const source = value('source_profile')
  const keys =
    source === ''
      ? await readNamedSource(tools, name, value)
      : await resolveProfile(tools, find, source, [...visited, name])
  if (!keys) throw credentialFault(`profile ${name} has a role, but its source has no credentials`)
  return assumeWithKeys(tools, role, keys)
}

const SOURCES: ReadonlyMap<string, ChainLink> = new Map([
  ['Environment', fromVariables],
  ['EcsContainer', fromContainer],
  ['Ec2InstanceMetadata', fromInstance],
])

async function readNamedSource(tools: ChainTools, name: string, value: ReadSetting): Promise<AwsCredentials | null> {
  const link = SOURCES.get(value('credential_source'))
  if (!link) throw credentialFault(`profile ${name} has a role without source_profile or a known credential_source`)
  return link(tools)
}
