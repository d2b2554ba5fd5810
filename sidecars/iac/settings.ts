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
  downloadUrl: string
  backendConfig: string
  jobTimeoutSeconds: number
  stopGraceSeconds: number
  maxParallel: number
  maxOutputBytes: number
  dataDir: string
  pluginCacheDir: string
  allowHostPrograms: boolean
  /** Patterns of provider sources; an empty list allows every provider. */
  allowedProviders: string[]
  /** Folder with providers in the engine's mirror layout; empty where there is none. */
  providerMirror: string
  /** The engine downloads nothing. */
  offline: boolean
  /** Hosts that an offline engine may still reach, the state's for example. */
  offlineHosts: string
  /** Largest size of one workspace; 0 sets no limit. */
  maxWorkspaceBytes: number
}

const MEBIBYTE = 1024 * 1024

/**
 * Reads the settings of the service from its environment. Every value is trimmed, and a blank one counts as unset.
 * Errors: `SettingsError`, which names every wrong variable.
 */
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
  const dataDir = text('IAC_DATA_DIR') || join(tmpdir(), `platform-iac-${process.getuid?.() ?? 0}-${port}`)
  const settings: IacSettings = {
    host: text('PLATFORM_HOST') || '0.0.0.0',
    port,
    token: text('PLATFORM_IAC_TOKEN'),
    binary: text('IAC_BINARY'),
    download: flag('IAC_DOWNLOAD'),
    downloadUrl: text('IAC_DOWNLOAD_URL'),
    backendConfig: text('IAC_BACKEND_CONFIG'),
    jobTimeoutSeconds: number('IAC_JOB_TIMEOUT_SECONDS', 3600, 0.1, 604_800, false),
    stopGraceSeconds: number('IAC_STOP_GRACE_SECONDS', 20, 0, 3600, false),
    maxParallel: number('IAC_MAX_PARALLEL', Math.max(2, availableParallelism()), 1, 1024),
    maxOutputBytes: number('IAC_MAX_OUTPUT_MIB', 256, 1, 4096) * MEBIBYTE,
    dataDir,
    pluginCacheDir: text('IAC_PLUGIN_CACHE_DIR') || text('TF_PLUGIN_CACHE_DIR') || join(dataDir, 'plugins'),
    allowHostPrograms: flag('IAC_ALLOW_HOST_PROGRAMS'),
    allowedProviders: text('IAC_ALLOWED_PROVIDERS')
      .split(',')
      .map((pattern) => pattern.trim())
      .filter((pattern) => pattern !== ''),
    providerMirror: text('IAC_PROVIDER_MIRROR'),
    offline: flag('IAC_OFFLINE'),
    offlineHosts: text('IAC_OFFLINE_HOSTS'),
    maxWorkspaceBytes: number('IAC_MAX_WORKSPACE_MIB', 0, 0, 1_048_576) * MEBIBYTE,
  }
  checkLimits(settings, text('TF_CLI_CONFIG_FILE') || text('TERRAFORM_CONFIG'), problems)
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
  return settings
}

function checkLimits(settings: IacSettings, cliConfigFile: string, problems: string[]): void {
  const { allowedProviders, providerMirror, offline } = settings
  for (const pattern of allowedProviders)
    if (!PROVIDER_PATTERN.test(pattern))
      problems.push(`IAC_ALLOWED_PROVIDERS holds '${pattern}', which is no [host/]namespace/type`)
  if (providerMirror !== '' && !isAbsolute(providerMirror))
    problems.push('IAC_PROVIDER_MIRROR must be an absolute path')
  if (cliConfigFile !== '' && (allowedProviders.length > 0 || providerMirror !== '' || offline))
    problems.push(
      'IAC_ALLOWED_PROVIDERS, IAC_PROVIDER_MIRROR and IAC_OFFLINE write a CLI configuration of their own: ' +
        'unset TF_CLI_CONFIG_FILE',
    )
}
