import { expect, it } from 'vitest'
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

it.each(['collector:6006/', 'ftp://collector/', 'http://'])('refuses the address %s', async (url) => {
  expect((await problemsOf(`telemetry: {collector_url: "${url}"}`)).join()).toContain(
    'telemetry.collector_url must be an http:// or https:// URL',
  )
})
