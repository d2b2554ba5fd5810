import { describe, expect, it } from 'vitest'
import { configWarnings } from '../../config/check.ts'
import { maskedConfig, secretsOf } from '../../config/mask.ts'
import { at, load, problemsOf } from './support.ts'

it('takes the key of the collector from the variable that the file names, and never shows it', async () => {
  expect((await load('')).telemetry.api_key).toBe('')
  expect((await load('', { PLATFORM_COLLECTOR_API_KEY: 'key-of-the-collector' })).telemetry.api_key).toBe(
    'key-of-the-collector',
  )
  const config = await load('telemetry: {api_key_env: PHOENIX_API_KEY}', { PHOENIX_API_KEY: 'key-of-the-collector' })
  expect(config.telemetry.api_key).toBe('key-of-the-collector')
  expect(secretsOf(config)).toContain('key-of-the-collector')
  expect(at(maskedConfig(config), 'telemetry.api_key')).toBe('***')
})

it('does without a collector when its address is blank, and says nothing about it', async () => {
  const config = await load('telemetry: {collector_url: "  "}')
  expect(config.telemetry.collector_url).toBe('')
  expect(configWarnings(config).join()).not.toContain('collector')
})

it.each(['collector:6006/', 'ftp://collector/', 'http://'])('refuses the address %s of a collector', async (url) => {
  expect((await problemsOf(`telemetry: {collector_url: "${url}"}`)).join()).toContain(
    'telemetry.collector_url must be an http:// or https:// URL',
  )
})

describe('the database', () => {
  const MISSING = 'Missing env variable for platform database'
  it.each([undefined, '', ' '])('a URL of %j is missing', async (url) => {
    expect(await problemsOf(null, { PLATFORM_SQL_DATABASE_URL: url })).toEqual([MISSING])
  })
  it('the variable can be named', async () => {
    const file = 'database: {platform_database_url_env: DB}'
    expect(await problemsOf(file)).toEqual([MISSING])
    expect((await load(file, { DB: 'postgresql://db/x' })).database.url).toBe('postgresql://db/x')
  })
  it.each([
    '""',
    'constructor',
  ])('of the variable %s, which names none or what every object has, is missing', async (name) => {
    expect(await problemsOf(`database: {platform_database_url_env: ${name}}`)).toEqual([MISSING])
  })
})

it.each([
  [undefined, 'redis://fallback:1/0'],
  ['', 'redis://fallback:1/0'],
  ['rediss://:pw@cache:6380/2', 'rediss://:pw@cache:6380/2'],
])('PLATFORM_REDIS_URL %j', async (value, url) => {
  const { redis } = await load('redis: {default_url: "redis://fallback:1/0"}', { PLATFORM_REDIS_URL: value })
  expect(redis.url).toBe(url)
})
