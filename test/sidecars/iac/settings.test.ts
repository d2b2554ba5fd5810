import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { readSettings } from '../../../sidecars/iac/settings.ts'

describe('settings of the service', () => {
  it('has defaults for everything', () => {
    const settings = readSettings({})
    expect(settings).toMatchObject({
      host: '127.0.0.1',
      port: 8082,
      token: '',
      binary: '',
      download: false,
      backendConfig: '',
      jobTimeoutSeconds: 3600,
      stopGraceSeconds: 20,
      maxParallel: Math.max(2, availableParallelism()),
      maxOutputBytes: 256 * 1024 * 1024,
      allowHostPrograms: false,
      allowPrograms: [],
    })
    expect(settings.pluginCacheDir.startsWith(settings.dataDir)).toBe(true)
  })

  it('keeps the data of two ports apart', () => {
    expect(readSettings({ PLATFORM_PORT: '1' }).dataDir).not.toBe(readSettings({ PLATFORM_PORT: '2' }).dataDir)
  })

  it('trims, and takes blank for unset', () => {
    const blank = {
      PLATFORM_PORT: ' ',
      PLATFORM_IAC_TOKEN: ' ',
      IAC_BINARY: '',
      IAC_BACKEND_CONFIG: ' ',
      IAC_ALLOW_HOST_PROGRAMS: '',
    }
    expect(readSettings(blank)).toEqual(readSettings({}))
    expect(readSettings({ PLATFORM_IAC_TOKEN: ' t\n', IAC_ALLOW_HOST_PROGRAMS: 'TRUE' })).toMatchObject({
      token: 't',
      allowHostPrograms: true,
    })
  })

  it('takes the plugin cache of the engine when there is one', () => {
    expect(readSettings({ TF_PLUGIN_CACHE_DIR: '/c' }).pluginCacheDir).toBe('/c')
    expect(readSettings({ TF_PLUGIN_CACHE_DIR: '/c', IAC_PLUGIN_CACHE_DIR: '/d' }).pluginCacheDir).toBe('/d')
  })

  it.each([
    ['PLATFORM_PORT', '65536'],
    ['PLATFORM_PORT', '80a'],
    ['IAC_MAX_PARALLEL', '1.5'],
    ['IAC_MAX_PARALLEL', '0'],
    ['IAC_JOB_TIMEOUT_SECONDS', '-1'],
    ['IAC_JOB_TIMEOUT_SECONDS', 'Infinity'],
    ['IAC_DOWNLOAD', '1'],
    ['IAC_ALLOW_HOST_PROGRAMS', 'on'],
  ])('%s=%s is refused by name', (name, value) => {
    expect(() => readSettings({ [name]: value })).toThrow(name)
  })
})

describe('limits of the operator', () => {
  it.each([
    [{ IAC_ALLOWED_PROVIDERS: 'hashicorp' }, /IAC_ALLOWED_PROVIDERS/],
    [{ IAC_ALLOWED_PROVIDERS: 'a/b, ../x' }, /\.\.\/x/],
    [{ IAC_PROVIDER_MIRROR: 'mirror' }, /absolute/],
    [{ IAC_OFFLINE: 'true', TF_CLI_CONFIG_FILE: '/etc/tf.rc' }, /TF_CLI_CONFIG_FILE/],
    [{ IAC_OFFLINE: 'true', IAC_MIRROR_AND_REGISTRY: 'true' }, /IAC_MIRROR_AND_REGISTRY/],
    [{ IAC_OFFLINE: 'maybe' }, /IAC_OFFLINE/],
    [{ IAC_MAX_WORKSPACE_MIB: '-1' }, /IAC_MAX_WORKSPACE_MIB/],
  ])('refuse %j', (env, text) => {
    expect(() => readSettings(env)).toThrow(text)
  })
  it('restrict nothing by default', () => {
    expect(readSettings({ TF_CLI_CONFIG_FILE: '/etc/tf.rc' })).toMatchObject({
      allowedProviders: [],
      mirrorAndRegistry: false,
      offline: false,
      maxWorkspaceBytes: 4096 * 1024 ** 2,
      sandbox: 'auto',
      egressAllow: [],
    })
  })
})

describe('the sandbox', () => {
  it('is chosen by one of four words, in any letter case', () => {
    expect(readSettings({ IAC_SANDBOX: ' Required ' }).sandbox).toBe('required')
    expect(() => readSettings({ IAC_SANDBOX: 'docker' })).toThrow(
      "IAC_SANDBOX must be one of auto, bubblewrap, required, none, got 'docker'",
    )
  })

  it('has an allow-list, files and a cloud of the state, each checked', () => {
    const settings = readSettings({
      IAC_EGRESS_ALLOW: 'store.internal:9000, 10.0.0.0/8',
      IAC_ENGINE_ENV: 'GITHUB_TOKEN,DATADOG_*',
      IAC_ENGINE_FILES: '/etc/ca',
      IAC_STATE_CLOUD: 'aws',
    })
    expect(settings).toMatchObject({
      egressAllow: [
        { target: 'store.internal', port: 9000 },
        { target: '10.0.0.0/8', port: null },
      ],
      engineEnv: ['GITHUB_TOKEN', 'DATADOG_*'],
      engineFiles: ['/etc/ca'],
      stateCloud: 'aws',
    })
    const wrong = { IAC_EGRESS_ALLOW: '127.0.0.1', IAC_ENGINE_FILES: 'ca.pem', IAC_STATE_CLOUD: 'constructor' }
    for (const name of Object.keys(wrong)) expect(() => readSettings(wrong)).toThrow(name)
  })
})
