import { describe, expect, it } from 'vitest'
import { engineEnvironment } from '../../../../sidecars/iac/engine/command.ts'

describe('environment of an engine', () => {
  const of = (options: Partial<Parameters<typeof engineEnvironment>[3]>, env = {}) =>
    engineEnvironment(
      { IAC_OFFLINE: 'true', HTTPS_PROXY: 'http://proxy:1', ...env },
      'init',
      { workspace_path: '/w' },
      {
        cliConfig: null,
        offline: false,
        offlineHosts: '',
        pluginCache: null,
        ...options,
      },
    )
  it('leads nowhere while it is offline, but to the named hosts', () => {
    expect(of({ offline: true, offlineHosts: 'store.internal' })).toMatchObject({
      HTTPS_PROXY: 'http://127.0.0.1:9',
      https_proxy: 'http://127.0.0.1:9',
      NO_PROXY: 'store.internal',
      GIT_ALLOW_PROTOCOL: 'file',
    })
  })
  it('stays as it is otherwise', () => {
    const env = of({ cliConfig: '/data/engine.tfrc' })
    expect(env).toMatchObject({ HTTPS_PROXY: 'http://proxy:1', TF_CLI_CONFIG_FILE: '/data/engine.tfrc' })
    expect(env).not.toHaveProperty('GIT_ALLOW_PROTOCOL')
    expect(env).not.toHaveProperty('IAC_OFFLINE')
  })
})
