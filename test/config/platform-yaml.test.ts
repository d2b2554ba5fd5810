import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { SECTIONS } from './sections.ts'
import { at, load } from './support.ts'

const shipped = await readFile(new URL('../../config/platform.yaml', import.meta.url), 'utf8')
const ENV = { VERTEXAI_PROJECT: 'p', VERTEXAI_LOCATION: 'l' }

describe('the shipped file', () => {
  test.each([
    ['orchestration.enable_compliance_checker', true],
    ['orchestration.block_on_high_impact', true],
    ['orchestration.max_validation_iteration', 5],
    ['services.notifications.enabled', false],
    ['services.notifications.endpoint', 'http://notifications:8080'],
    ['services.notifications.token_env', 'PLATFORM_NOTIFICATIONS_TOKEN'],
    ['services.mapping.enabled', false],
    ['services.mapping.endpoint', 'http://mapping:8081'],
    ['services.mapping.token_env', 'PLATFORM_MAPPING_TOKEN'],
    ['services.authz.enabled', false],
    ['services.authz.endpoint', 'http://authz:8083'],
    ['services.authz.token_env', 'PLATFORM_AUTHZ_TOKEN'],
  ])('%s is %s', async (path, value) => {
    expect(at(await load(shipped, ENV), path)).toBe(value)
  })

  test('everything else is the code default', async () => {
    const { services, orchestration, llm, ...rest } = await load(shipped, ENV)
    const defaults = await load(null, ENV)
    expect({ ...rest, iac: services.iac }).toEqual({
      ...Object.fromEntries(
        Object.entries(defaults).filter(([key]) => !['services', 'orchestration', 'llm'].includes(key)),
      ),
      iac: defaults.services.iac,
    })
    const { google_credentials_file: _, ...rest_of_llm } = llm
    expect(rest_of_llm).toEqual({ ...defaults.llm, model: llm.model, small_model: llm.small_model })
    expect(orchestration).toEqual({
      ...defaults.orchestration,
      enable_compliance_checker: true,
      block_on_high_impact: true,
      max_validation_iteration: 5,
    })
  })

  test('the list of sections is complete', async () => {
    const top = Object.keys(SECTIONS).map((path) => path.split('.')[0] || 'environment')
    const { version: _, ...config } = await load()
    expect([...new Set(top)].sort()).toEqual(Object.keys(config).sort())
    expect(Object.keys(parse(shipped)).sort()).toEqual(Object.keys(config).sort())
  })

  const fields = Object.entries(SECTIONS).flatMap(([section, schema]) =>
    Object.keys(schema.entries).map((field) => (section === '' ? field : `${section}.${field}`)),
  )
  test.each(fields)('names %s', (path) => {
    expect(at(parse(shipped), path)).toBeDefined()
  })

  test('an orchestration block that omits the gates turns them off', async () => {
    const { orchestration } = await load('orchestration: {max_drift_reports: 3}')
    expect(orchestration).toMatchObject({ enable_compliance_checker: false, block_on_high_impact: false })
  })
})
