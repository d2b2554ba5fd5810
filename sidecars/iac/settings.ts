import { availableParallelism, tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { checkSettings, hostOf, listOf, textOf } from '../shared/settings.ts'
import { parsePermission } from './host-programs/permissions.ts'
import { PROVIDER_PATTERN } from './limits/providers.ts'
import { parseEgressEntry } from './sandbox/egress.ts'
import { ENGINE_PROVIDERS } from './types.ts'

/** The settings of the service. Limits are in bytes. */
export type IacSettings = ReturnType<typeof readSettings>

const MEBIBYTE = 1024 * 1024

/** Creates readers of variables. They add errors to `problems`; the first value of a choice is its default. */
function createReaders(env: Record<string, string | undefined>, problems: string[]) {
  const text = (name: string) => textOf(env, name)
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
  const list = (name: string) => listOf(env, name)
  const choice = <Value extends string>(name: string, values: readonly Value[]): Value => {
    const value = text(name).toLowerCase()
    const known = values.find((each) => each === value)
    if (known === undefined && value !== '')
      problems.push(`${name} must be one of ${values.join(', ')}, got '${text(name)}'`)
    return known ?? (values[0] as Value)
  }
  return { text, number, flag, list, choice }
}

/** Reads the settings, trimmed; blank counts as unset. Errors: `SettingsError`, which names every wrong variable. */
export const readSettings = (env: Record<string, string | undefined>) =>
  checkSettings((problems) => {
    const { text, number, flag, list, choice } = createReaders(env, problems)
    const port = number('PLATFORM_PORT', 8082, 0, 65_535)
    const token = text('PLATFORM_IAC_TOKEN')
    const dataDir = text('IAC_DATA_DIR') || join(tmpdir(), `platform-iac-${process.getuid?.() ?? 0}-${port}`)
    const settings = {
      host: hostOf(env, token),
      port,
      token,
      /** Name on PATH or absolute path; empty looks for `tofu`, then `terraform`. */
      binary: text('IAC_BINARY'),
      download: flag('IAC_DOWNLOAD'),
      /** Base URL of the engine's releases; empty means the project's own. */
      downloadUrl: text('IAC_DOWNLOAD_URL'),
      backendConfig: text('IAC_BACKEND_CONFIG'),
      jobTimeoutSeconds: number('IAC_JOB_TIMEOUT_SECONDS', 3600, 0.1, 604_800, false),
      stopGraceSeconds: number('IAC_STOP_GRACE_SECONDS', 20, 0, 3600, false),
      maxParallel: number('IAC_MAX_PARALLEL', Math.max(2, availableParallelism()), 1, 1024),
      maxOutputBytes: number('IAC_MAX_OUTPUT_MIB', 256, 1, 4096) * MEBIBYTE,
      dataDir,
      pluginCacheDir: text('IAC_PLUGIN_CACHE_DIR') || text('TF_PLUGIN_CACHE_DIR') || join(dataDir, 'plugins'),
      allowHostPrograms: flag('IAC_ALLOW_HOST_PROGRAMS'),
      /** Programs and their like that the code of some repositories may use. */
      allowPrograms: readEach('IAC_ALLOW_PROGRAMS', list, parsePermission, problems),
      /** Absolute path of a file with credentials of git hosts for modules; empty for none. */
      moduleCredentials: text('IAC_MODULE_CREDENTIALS'),
      /** True if the token of the session's own host is not used for modules. */
      refuseHostToken: flag('IAC_REFUSE_HOST_TOKEN'),
      /** Patterns of provider sources; empty allows every provider. */
      allowedProviders: list('IAC_ALLOWED_PROVIDERS'),
      /** Folder with providers in the engine's mirror layout; empty for none. */
      providerMirror: text('IAC_PROVIDER_MIRROR'),
      /** True if providers of the mirror are also looked up in the registry. */
      mirrorAndRegistry: flag('IAC_MIRROR_AND_REGISTRY'),
      /** True if the engine downloads nothing. */
      offline: flag('IAC_OFFLINE'),
      /** Hosts that an offline engine may still reach, for example that of the state. */
      offlineHosts: text('IAC_OFFLINE_HOSTS'),
      /** Absolute path of the folder in which all workspaces lie; empty allows every folder that is not taken. */
      workspaceRoot: text('IAC_WORKSPACE_ROOT'),
      /** Jobs that may wait for one workspace. */
      maxQueued: number('IAC_MAX_QUEUED', 32, 1, 10_000),
      /** Limit of one workspace; 0 sets none. */
      maxWorkspaceBytes: number('IAC_MAX_WORKSPACE_MIB', 4096, 0, 1_048_576) * MEBIBYTE,
      /** `auto` uses a sandbox where it works, `required` also demands a network of its own for it. */
      sandbox: choice('IAC_SANDBOX', ['auto', 'bubblewrap', 'required', 'none']),
      /** Targets beside public addresses that engines in a sandbox may reach. */
      egressAllow: readEach('IAC_EGRESS_ALLOW', list, parseEgressEntry, problems),
      /** Memory of one engine command with everything that it starts. */
      maxMemoryBytes: number('IAC_MAX_MEMORY_MIB', 4096, 64, 1_048_576) * MEBIBYTE,
      /** Processes and threads of one engine command. */
      maxProcesses: number('IAC_MAX_PROCESSES', 1024, 16, 1_048_576),
      /** Additional variables that engines in a sandbox see; a name may end in `*`. */
      engineEnv: list('IAC_ENGINE_ENV'),
      /** Absolute paths of additional files and folders that engines in a sandbox can read. */
      engineFiles: list('IAC_ENGINE_FILES'),
      /** The cloud whose credentials the state needs beside that of the request; `auto` takes it from the request. */
      stateCloud: choice('IAC_STATE_CLOUD', ['auto', 'none', ...ENGINE_PROVIDERS]),
    }
    checkLimits(settings, text('TF_CLI_CONFIG_FILE') || text('TERRAFORM_CONFIG'), problems)
    return settings
  })

/** Reads every entry of a list. `parse` returns what is wrong with an entry as text. */
function readEach<Entry extends object>(
  name: string,
  list: (name: string) => string[],
  parse: (text: string) => Entry | string,
  problems: string[],
): Entry[] {
  return list(name).flatMap((text) => {
    const entry = parse(text)
    if (typeof entry !== 'string') return [entry]
    problems.push(`${name} holds '${text}', which ${entry}`)
    return []
  })
}

function checkLimits(
  settings: Pick<
    IacSettings,
    | 'engineFiles'
    | 'allowedProviders'
    | 'providerMirror'
    | 'mirrorAndRegistry'
    | 'moduleCredentials'
    | 'offline'
    | 'workspaceRoot'
  >,
  cliConfigFile: string,
  problems: string[],
): void {
  const { engineFiles, allowedProviders, providerMirror, mirrorAndRegistry, offline, workspaceRoot } = settings
  const { moduleCredentials } = settings
  for (const path of engineFiles)
    if (!isAbsolute(path)) problems.push(`IAC_ENGINE_FILES holds '${path}', which is no absolute path`)
  for (const pattern of allowedProviders)
    if (!PROVIDER_PATTERN.test(pattern))
      problems.push(`IAC_ALLOWED_PROVIDERS holds '${pattern}', which is no [host/]namespace/type`)
  for (const [name, path] of [
    ['IAC_PROVIDER_MIRROR', providerMirror] as const,
    ['IAC_WORKSPACE_ROOT', workspaceRoot] as const,
    ['IAC_MODULE_CREDENTIALS', moduleCredentials] as const,
  ])
    if (path !== '' && !isAbsolute(path)) problems.push(`${name} must be an absolute path`)
  if (mirrorAndRegistry && offline)
    problems.push('IAC_MIRROR_AND_REGISTRY cannot be used together with IAC_OFFLINE, which reaches no registry')
  if (cliConfigFile !== '' && (allowedProviders.length > 0 || providerMirror !== '' || offline))
    problems.push(
      'IAC_ALLOWED_PROVIDERS, IAC_PROVIDER_MIRROR and IAC_OFFLINE write a CLI configuration of their own: ' +
        'unset TF_CLI_CONFIG_FILE',
    )
}
