import { describe, expect, test } from 'vitest'
import { maskedConfig, secretsOf } from '../../config/mask.ts'
import { load } from './support.ts'

const S3 = 'storage: {provider: S3}'

describe('variables of the credential chain', () => {
  test('are read for S3 without keys only', async () => {
    const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
    expect((await load(S3, env)).storage.aws).toMatchObject({ access_key: 'a', secret_key: 'b' })
    expect((await load(S3, { ...env, BUNDLED_ACCESS_KEY: 'one' })).storage.aws).toBeDefined()
    expect((await load(S3, { ...env, BUNDLED_ACCESS_KEY: 'x', BUNDLED_SECRET_KEY: 'y' })).storage.aws).toBeUndefined()
    expect((await load(null, { ...env, BUNDLED_ACCESS_KEY: '' })).storage.aws).toBeUndefined()
  })

  test('have the defaults of the vendor', async () => {
    expect((await load(S3, { HOME: '/home/me' })).storage.aws).toMatchObject({
      profile: '',
      credentials_file: '/home/me/.aws/credentials',
      config_file: '/home/me/.aws/config',
      metadata_disabled: false,
      metadata_endpoint: 'http://169.254.169.254',
    })
    expect((await load(S3)).storage.aws).toMatchObject({ credentials_file: '', config_file: '' })
  })

  test('that are secrets are masked', async () => {
    const env = {
      AWS_ACCESS_KEY_ID: 'chain-key',
      AWS_SECRET_ACCESS_KEY: 'chain-secret',
      AWS_SESSION_TOKEN: 'chain-session',
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'chain-container',
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/r',
    }
    const config = await load(S3, env)
    const shown = JSON.stringify(maskedConfig(config))
    expect(shown).not.toContain('chain-')
    expect(shown).toContain(env.AWS_ROLE_ARN)
    expect(secretsOf(config)).toEqual(
      expect.arrayContaining(['chain-key', 'chain-secret', 'chain-session', 'chain-container']),
    )
  })
})
