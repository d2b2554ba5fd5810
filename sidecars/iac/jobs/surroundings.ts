import { isAbsolute } from 'node:path'
import { engineEnvironment, withoutOwnSettings } from '../engine/command.ts'
import type { PluginCache } from '../engine/plugin-cache.ts'
import type { CliConfig } from '../limits/providers.ts'
import { allowedVariables, cloudsOf, homeFolders, namedFiles, readStateCloud } from '../sandbox/environment.ts'
import type { Access, Executor } from '../sandbox/executor.ts'
import type { IacSettings } from '../settings.ts'
import type { JobKind, JobRequest } from '../types.ts'

/** The default of `paths.backend_override_filename`, in which the worker declares the state store. */
export const OVERRIDE_NAME = 'backend_override.tf'

/** The part of the service that an engine command sees: its environment, and files outside of the workspace. */
export interface Surroundings {
  env(pluginCache: string | null): Record<string, string | undefined>
  access(cache: PluginCache | null): Access
}

/** Selects what a job may see: in a sandbox by an allow-list, else all but the platform's own settings. */
export async function prepareSurroundings(
  options: {
    settings: IacSettings
    executor: Executor
    env: Readonly<Record<string, string | undefined>>
    cliConfig: CliConfig | null
  },
  kind: JobKind,
  request: JobRequest,
): Promise<Surroundings> {
  const { settings, executor, env } = options
  // Only an init installs providers, and it sees later additions to the mirror.
  if (kind === 'init') await options.cliConfig?.refresh()
  const cliConfig = options.cliConfig?.path ?? null
  const clouds = cloudsOf(kind, request, await stateCloudOf(settings, request.workspace_path))
  const variables =
    executor.boundary.sandbox === 'none'
      ? definedOnly(withoutOwnSettings(env))
      : allowedVariables(env, kind, clouds, settings.engineEnv)
  const files = await namedFiles(variables)
  return {
    env: (pluginCache) => engineEnvironment(variables, kind, request, { ...settings, cliConfig, pluginCache }),
    access: (cache) => ({
      readable: [settings.providerMirror, settings.pluginCacheDir].filter(isAbsolute),
      private: [...files, ...settings.engineFiles, settings.backendConfig, cliConfig ?? ''].filter(isAbsolute),
      writable: cache?.isWritable ? [cache.path] : [],
      home: homeFolders(clouds),
    }),
  }
}

function stateCloudOf({ stateCloud }: IacSettings, workspace: string) {
  if (stateCloud === 'auto') return readStateCloud(workspace, OVERRIDE_NAME)
  return stateCloud === 'none' ? null : stateCloud
}

const definedOnly = (variables: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
