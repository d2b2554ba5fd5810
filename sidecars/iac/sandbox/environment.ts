import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { engineEnvironment, withoutOwnSettings } from '../engine/command.ts'
import { CACHE_BELOW, type PluginCache } from '../engine/plugin-cache.ts'
import type { CliConfig } from '../limits/providers.ts'
import type { IacSettings } from '../settings.ts'
import type { EngineProvider, JobKind, JobRequest } from '../types.ts'
import type { Access, Executor } from './executor.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The variables of each cloud, and the folder of its credentials below the home folder. */
const CLOUDS: Record<EngineProvider, { variables: RegExp; home: string }> = {
  aws: { variables: /^AWS_/, home: '.aws' },
  azure: { variables: /^(ARM|AZURE)_/, home: '.azure' },
  gcp: { variables: /^(GOOGLE|GCLOUD|CLOUDSDK|GCE)_/, home: '.config/gcloud' },
  oci: { variables: /^OCI_/, home: '.oci' },
  kubernetes: { variables: /^KUBE(_|CONFIG$|RNETES_)/, home: '.kube' },
}

/** Settings of the engine, and those of certificates, network and language. */
const SETTINGS =
  /^(TF_(?!TOKEN_|LOG_PATH$)\w+|TOFU_\w+|CHECKPOINT_DISABLE|SSL_CERT_(FILE|DIR)|GIT_SSL_CA(INFO|PATH)|GIT_ALLOW_PROTOCOL|LANG|LANGUAGE|LC_\w+|TZ|(HTTPS?|ALL|NO)_PROXY)$/i
/** Tokens of registries, which only `init` uses. */
const REGISTRY_TOKENS = /^TF_TOKEN_/

/** Kinds that ask a cloud. */
const CLOUD_KINDS: readonly JobKind[] = ['init', 'plan', 'apply', 'import', 'state_summary', 'state_rm']
/** Kinds that open the state, whose store may be in another cloud. */
const STATE_KINDS: readonly JobKind[] = [...CLOUD_KINDS, 'state_resource_ids']

/** Returns the clouds whose credentials a job gets: that of the request, and that of the state if it opens it. */
export function cloudsOf(kind: JobKind, request: JobRequest, stateCloud: EngineProvider | null): EngineProvider[] {
  const asked = CLOUD_KINDS.includes(kind) && request.engine_provider !== undefined ? [request.engine_provider] : []
  const state = STATE_KINDS.includes(kind) && stateCloud !== null ? [stateCloud] : []
  return [...new Set([...asked, ...state])]
}

/**
 * Returns the variables that a command may see, without tokens of the platform and credentials of other clouds.
 * @param extra the operator's additional variables; names may end in `*`
 */
export function allowedVariables(
  service: Environment,
  kind: JobKind,
  clouds: readonly EngineProvider[],
  extra: readonly string[],
): Record<string, string> {
  const matchesExtra = (name: string) =>
    extra.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
  const isAllowed = (name: string) =>
    SETTINGS.test(name) ||
    (kind === 'init' && REGISTRY_TOKENS.test(name)) ||
    clouds.some((cloud) => CLOUDS[cloud].variables.test(name)) ||
    matchesExtra(name)
  return Object.fromEntries(
    Object.entries(service).flatMap(([name, value]) =>
      value !== undefined && !/^(PLATFORM|IAC)_/i.test(name) && isAllowed(name) ? [[name, value]] : [],
    ),
  )
}

/** Lists files and folders outside of the workspace that these variables name, separated by colons. */
export async function namedFiles(variables: Environment): Promise<string[]> {
  const paths = Object.values(variables)
    .flatMap((value) => (value?.startsWith('/') ? value.split(':') : []))
    .filter((path) => isAbsolute(path) && path !== '/' && path.length < 4096 && !path.includes('\0'))
  const found = await Promise.all(
    [...new Set(paths)].map((path) =>
      stat(path).then(
        () => path,
        () => null,
      ),
    ),
  )
  return found.filter((path) => path !== null)
}

/** Returns the folders with credentials of these clouds, relative to the home folder of the service. */
export const homeFolders = (clouds: readonly EngineProvider[]): string[] => clouds.map((cloud) => CLOUDS[cloud].home)

/** The default of `paths.backend_override_filename`, in which the worker declares the state store. */
export const OVERRIDE_NAME = 'backend_override.tf'

/**
 * Selects what a job may see: in a sandbox by an allow-list, else all but the platform's own settings. Returns what
 * gives the environment of a command, and the files outside of the workspace that it may use.
 */
export async function prepareSurroundings(
  options: {
    settings: IacSettings
    executor: Executor
    env: Readonly<Record<string, string | undefined>>
    cliConfig: CliConfig | null
  },
  kind: JobKind,
  request: JobRequest,
) {
  const { settings, executor, env } = options
  // Only an init installs providers, and it sees later additions to the mirror.
  if (kind === 'init') await options.cliConfig?.refresh()
  const cliConfig = options.cliConfig?.path ?? null
  // Whatever lies in the workspace may come from a repository or an earlier engine.
  const stateCloud = settings.stateCloud === 'auto' ? (request.state?.cloud ?? 'none') : settings.stateCloud
  const clouds = cloudsOf(kind, request, stateCloud === 'none' ? null : stateCloud)
  const variables =
    executor.boundary.sandbox === 'none'
      ? withoutOwnSettings(env)
      : allowedVariables(env, kind, clouds, settings.engineEnv)
  const files = await namedFiles(variables)
  return {
    env: (pluginCache: string | null) =>
      engineEnvironment(variables, kind, request, { ...settings, cliConfig, pluginCache }),
    access: (cache: PluginCache | null): Access => ({
      readable: [settings.providerMirror, cache?.overlay === undefined ? settings.pluginCacheDir : ''].filter(
        isAbsolute,
      ),
      private: [...files, ...settings.engineFiles, settings.backendConfig, cliConfig ?? ''].filter(isAbsolute),
      writable: cache?.isWritable ? [cache.path] : [],
      ...(cache?.overlay !== undefined && {
        moved: [
          { from: cache.path, inside: CACHE_BELOW, isWritable: false },
          { from: cache.overlay, inside: cache.path, isWritable: true },
        ],
      }),
      home: homeFolders(clouds),
    }),
  }
}
