import { availableParallelism, tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { SettingsError } from '../shared/settings.ts'
import { PROVIDER_PATTERN } from './limits/providers.ts'

export interface IacSettings {
  host: string
  port: number
  token: string
  /** Name on PATH or absolute path; empty looks for `tofu`, then `terraform`. */
  binary: string
  download: boolean
  /** Base URL of the engine's releases; empty means the project's own. */
  download_url: string
  backend_config: string
  job_timeout_seconds: number
  stop_grace_seconds: number
  max_parallel: number
  max_output_bytes: number
  data_dir: string
  plugin_cache_dir: string
  allow_host_programs: boolean
  /** Patterns of provider sources; empty: every provider. */
  allowed_providers: string[]
  /** Folder in the engine's mirror layout; empty: none. */
  provider_mirror: string
  /** The engine downloads nothing. */
  offline: boolean
  /** Hosts that an offline engine may still reach, the state's for example. */
  offline_hosts: string
  /** Of one workspace; 0: no limit. */
  max_workspace_bytes: number
}

const MEBIBYTE = 1024 * 1024

/** The service's settings from its environment; every value is trimmed and a blank one counts as unset. */
export function readSettings(env: Record<string, string | undefined>): IacSettings {
  const problems: string[] = []
  const text = (name: string) => env[name]?.trim() ?? ''
  const number = (name: string, fallback: number, minimum: number, maximum: number, whole = true) => {
    if (text(name) === '') return fallback
    const value = Number(text(name))
    if (value >= minimum && value <= maximum && (!whole || Number.isInteger(value))) return value
    problems.push(
      `${name} must be ${whole ? 'a whole number' : 'a number'} from ${minimum} to ${maximum}, got '${text(name)}'`,
    )
    return fallback
  }
  const flag = (name: string) => {
    if (/^(|true|false)$/i.test(text(name))) return text(name).toLowerCase() === 'true'
    problems.push(`${name} must be true or false, got '${text(name)}'`)
    return false
  }
  const port = number('PLATFORM_PORT', 8082, 0, 65_535)
  const data_dir = text('IAC_DATA_DIR') || join(tmpdir(), `platform-iac-${process.getuid?.() ?? 0}-${port}`)
  const settings: IacSettings = {
    host: text('PLATFORM_HOST') || '0.0.0.0',
    port,
    token: text('PLATFORM_IAC_TOKEN'),
    binary: text('IAC_BINARY'),
    download: flag('IAC_DOWNLOAD'),
    download_url: text('IAC_DOWNLOAD_URL'),
    backend_config: text('IAC_BACKEND_CONFIG'),
    job_timeout_seconds: number('IAC_JOB_TIMEOUT_SECONDS', 3600, 0.1, 604_800, false),
    stop_grace_seconds: number('IAC_STOP_GRACE_SECONDS', 20, 0, 3600, false),
    max_parallel: number('IAC_MAX_PARALLEL', Math.max(2, availableParallelism()), 1, 1024),
    max_output_bytes: number('IAC_MAX_OUTPUT_MIB', 256, 1, 4096) * MEBIBYTE,
    data_dir,
    plugin_cache_dir: text('IAC_PLUGIN_CACHE_DIR') || text('TF_PLUGIN_CACHE_DIR') || join(data_dir, 'plugins'),
    allow_host_programs: flag('IAC_ALLOW_HOST_PROGRAMS'),
    allowed_providers: text('IAC_ALLOWED_PROVIDERS')
      .split(',')
      .map((pattern) => pattern.trim())
      .filter((pattern) => pattern !== ''),
    provider_mirror: text('IAC_PROVIDER_MIRROR'),
    offline: flag('IAC_OFFLINE'),
    offline_hosts: text('IAC_OFFLINE_HOSTS'),
    max_workspace_bytes: number('IAC_MAX_WORKSPACE_MIB', 0, 0, 1_048_576) * MEBIBYTE,
  }
  checkLimits(settings, text('TF_CLI_CONFIG_FILE') || text('TERRAFORM_CONFIG'), problems)
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
  return settings
}

function checkLimits(settings: IacSettings, cli_config_file: string, problems: string[]): void {
  const { allowed_providers, provider_mirror, offline } = settings
  for (const pattern of allowed_providers)
    if (!PROVIDER_PATTERN.test(pattern))
      problems.push(`IAC_ALLOWED_PROVIDERS holds '${pattern}', which is no [host/]namespace/type`)
  if (provider_mirror !== '' && !isAbsolute(provider_mirror))
    problems.push('IAC_PROVIDER_MIRROR must be an absolute path')
  if (cli_config_file !== '' && (allowed_providers.length > 0 || provider_mirror !== '' || offline))
    problems.push(
      'IAC_ALLOWED_PROVIDERS, IAC_PROVIDER_MIRROR and IAC_OFFLINE write a CLI configuration of their own: unset TF_CLI_CONFIG_FILE',
    )
}
