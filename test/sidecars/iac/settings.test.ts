import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { readSettings } from '../../../sidecars/iac/settings.ts'

describe('settings of the service', () => {
  it('has defaults for everything', () => {
    const settings = readSettings({})
    expect(settings).toMatchObject({
      host: '0.0.0.0',
      port: 8082,
      token: '',
      binary: '',
      download: false,
      backend_config: '',
      job_timeout_seconds: 3600,
      stop_grace_seconds: 20,
      max_parallel: Math.max(2, availableParallelism()),
      max_output_bytes: 256 * 1024 * 1024,
      allow_host_programs: false,
    })
    expect(settings.plugin_cache_dir.startsWith(settings.data_dir)).toBe(true)
  })

  it('keeps the data of two ports apart', () => {
    expect(readSettings({ PLATFORM_PORT: '1' }).data_dir).not.toBe(readSettings({ PLATFORM_PORT: '2' }).data_dir)
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
      allow_host_programs: true,
    })
  })

  it('takes the plugin cache of the engine when there is one', () => {
    expect(readSettings({ TF_PLUGIN_CACHE_DIR: '/c' }).plugin_cache_dir).toBe('/c')
    expect(readSettings({ TF_PLUGIN_CACHE_DIR: '/c', IAC_PLUGIN_CACHE_DIR: '/d' }).plugin_cache_dir).toBe('/d')
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
