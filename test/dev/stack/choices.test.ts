import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../../config/load.ts'
import { readChoices } from '../../../dev/stack/choices.ts'
import {
  childVariables,
  configurationDocument,
  type Embedded,
  loadSecrets,
  writeConfiguration,
} from '../../../dev/stack/configuration.ts'
import { readTextFile } from '../../../src/runtime/files.ts'
import { temporaryFolder } from '../../helpers/folder.ts'

const folder = temporaryFolder()

const ALL: Embedded = {
  databaseUrl: 'postgresql://platform:pw@127.0.0.1:1/platform',
  cacheUrl: 'http://:token@127.0.0.1:2',
  objectStoreUrl: 'http://127.0.0.1:3',
  git_host: null,
  modelUrl: 'http://127.0.0.1:4',
  cloudUrl: null,
  collector_url: null,
  iacUrl: 'http://127.0.0.1:5',
}
const OWN = {
  PLATFORM_SQL_DATABASE_URL: 'postgresql://db',
  PLATFORM_REDIS_URL: 'redis://cache',
  GIT_USER: 'me',
  GIT_TOKEN: 'token',
}

/** Loads the configuration as core and worker do. */
async function effective(env: Record<string, string>, embedded: Embedded) {
  const choices = await readChoices(env, false)
  const configPath = await writeConfiguration(
    configurationDocument(choices, embedded, folder, 'http://127.0.0.1:8000'),
    folder,
  )
  const variables = await childVariables(env, { embedded, secrets: await loadSecrets(folder), configPath, folder })
  return { choices, config: await loadConfig({ ...env, ...variables }, readTextFile), variables }
}

test('nothing set: everything is embedded and the configuration holds', async () => {
  const { choices, config } = await effective({}, ALL)
  expect(choices).toMatchObject({ database: false, cache: false, storage: null, llm: null, git: false })
  expect(config.database.url).toBe(ALL.databaseUrl)
  expect(config.redis.url).toBe(ALL.cacheUrl)
  expect(config.storage).toMatchObject({
    endpoint_url: ALL.objectStoreUrl,
    public_endpoint_url: ALL.objectStoreUrl,
    provider: 'BUNDLED',
  })
  expect(config.storage.access_key).toMatch(/^[0-9a-f]{40}$/)
  expect(config.llm).toMatchObject({ model: 'openai/scripted-model', small_model: 'openai/scripted-model' })
  expect(config.services.iac.endpoint).toBe(ALL.iacUrl)
  expect(config.paths.upload_folder).toBe(join(folder, 'workspaces'))
  expect(config.orchestration.enable_compliance_checker).toBe(true)
  expect(config.http.session_url).toBe('http://127.0.0.1:8000/console/sessions/{session_id}')
})

test.each([
  ['PLATFORM_LLM_MODEL', 'openai/scripted-model', 'chat', '/v1'],
  ['PLATFORM_LLM_MODEL', 'anthropic/scripted-model', 'anthropic', '/anthropic/v1'],
  ['PLATFORM_LLM_MODEL', 'gemini/scripted-model', 'gemini', '/gemini/v1beta'],
  ['PLATFORM_CONFIG', 'anthropic/scripted-model', 'anthropic', '/anthropic/v1'],
])('%s alone has the scripted model asked as %s', async (variable, model, wire, path) => {
  const file = join(folder, `${wire}.yaml`)
  await writeFile(file, JSON.stringify({ llm: { model } }))
  const { choices, config } = await effective({ [variable]: variable === 'PLATFORM_CONFIG' ? file : model }, ALL)
  expect(choices.llm).toBeNull()
  expect(config.llm).toMatchObject({ model, small_model: model })
  expect(config.llm.model_list).toEqual([
    { model_name: model, litellm_params: { model, wire, api_base: `${ALL.modelUrl}${path}`, api_key: 'scripted' } },
  ])
})

test('the form is a choice of the embedded stack too, another model is not', async () => {
  const { scripted, llm } = await readChoices({ PLATFORM_LLM_MODEL: 'gemini/scripted-model' }, true)
  expect([scripted.model, llm]).toEqual(['gemini/scripted-model', null])
  expect((await readChoices({ PLATFORM_LLM_MODEL: 'gemini/gemini-3.8-flash' }, true)).scripted.model).toBe(
    'openai/scripted-model',
  )
})

test('the two models may be asked in different forms; a form that is not spoken is refused', async () => {
  const env = {
    PLATFORM_LLM_MODEL: 'anthropic/scripted-model',
    PLATFORM_LLM_SMALL_MODEL: 'gemini/scripted-model',
    ANTHROPIC_API_KEY: 'real-key',
  }
  const { config } = await effective(env, ALL)
  expect(config.llm).toMatchObject({ model: 'anthropic/scripted-model', small_model: 'gemini/scripted-model' })
  expect(JSON.stringify(config.llm.model_list)).not.toContain('real-key')
  await expect(effective({ PLATFORM_LLM_MODEL: 'mistral/scripted-model' }, ALL)).rejects.toThrow(
    'no form for mistral/scripted-model',
  )
})

test('variables of real services replace the embedded ones', async () => {
  const env = {
    ...OWN,
    ANTHROPIC_API_KEY: 'key',
    PLATFORM_STORAGE_ENDPOINT_URL: 'https://s3.example.com',
    PLATFORM_STORAGE_REGION: 'eu-west-1',
    BUNDLED_ACCESS_KEY: 'mine',
    BUNDLED_SECRET_KEY: 'also mine',
  }
  const { choices, config, variables } = await effective(env, {
    ...ALL,
    databaseUrl: null,
    cacheUrl: null,
    objectStoreUrl: null,
    modelUrl: null,
  })
  expect(choices).toMatchObject({ database: true, cache: true, git: true })
  expect(config.database.url).toContain('postgresql://db')
  expect(config.redis.url).toBe('redis://cache')
  expect(config.storage).toMatchObject({
    endpoint_url: 'https://s3.example.com',
    region: 'eu-west-1',
    access_key: 'mine',
  })
  expect(config.llm.model).toMatch(/^anthropic\//)
  expect(config.git).toMatchObject({ host: 'github.com', user: 'me', token: 'token', base_url: '' })
  expect(variables).not.toHaveProperty('OPENAI_API_KEY')
})

test('a chosen model wins over the one of a key', async () => {
  const { llm } = await readChoices({ OPENAI_API_KEY: 'key', PLATFORM_LLM_MODEL: 'openai/some-model' }, false)
  expect(llm).toMatchObject({ model: 'openai/some-model', small_model: 'openai/some-model' })
})

test('a configuration file lies under the addresses of the stack', async () => {
  const path = join(folder, 'own.yaml')
  const own = {
    orchestration: { max_validation_iteration: 2 },
    services: { iac: { timeout: 7 } },
    storage: { region: 'eu-west-1', bucket: 'mine' },
  }
  await writeFile(path, JSON.stringify(own))
  const { choices, config } = await effective({ PLATFORM_CONFIG: path }, ALL)
  expect(choices.storage).toBeNull()
  expect(config.orchestration.max_validation_iteration).toBe(2)
  expect(config.services.iac).toMatchObject({ timeout: 7, endpoint: ALL.iacUrl })
  expect(config.storage).toMatchObject({ bucket: 'mine', endpoint_url: ALL.objectStoreUrl })
  await writeFile(path, JSON.stringify({ storage: { provider: 'S3' }, llm: { model: 'openai/x' } }))
  const chosen = await readChoices({ PLATFORM_CONFIG: path }, false)
  expect([chosen.storage, chosen.llm]).toEqual([{}, {}])
})

test('embedded only: variables of real services are not looked at', async () => {
  const choices = await readChoices(
    { ...OWN, OPENAI_API_KEY: 'key', PLATFORM_STORAGE_ENDPOINT_URL: 'https://s3.example.com' },
    true,
  )
  expect(choices).toMatchObject({ database: false, cache: false, storage: null, llm: null, git: false })
})

test('a configuration file that cannot be used is named', async () => {
  await expect(readChoices({ PLATFORM_CONFIG: join(folder, 'missing.yaml') }, false)).rejects.toThrow(
    /missing\.yaml cannot be used/,
  )
  await writeFile(join(folder, 'list.yaml'), '- a\n')
  await expect(readChoices({ PLATFORM_CONFIG: join(folder, 'list.yaml') }, false)).rejects.toThrow(
    /must hold a mapping/,
  )
})

test('secrets are made once', async () => {
  expect(await loadSecrets(folder)).toEqual(await loadSecrets(folder))
})

test('the sample account stays away from an account of the operator', async () => {
  const cloud = async (env: Record<string, string>, embedded = false) => (await readChoices(env, embedded)).cloud
  const home = join(folder, 'home-with-account')
  expect(await cloud({})).toBe(false)
  expect(await cloud({ HOME: home })).toBe(false)
  expect(await cloud({ AWS_CA_BUNDLE: '/etc/ssl/own.pem' })).toBe(false)
  for (const name of ['AWS_PROFILE', 'AWS_ACCESS_KEY_ID', 'AWS_ROLE_ARN', 'AWS_REGION']) {
    expect(await cloud({ [name]: 'mine' })).toBe(true)
    expect(await cloud({ [name]: ' ' })).toBe(false)
    expect(await cloud({ [name]: 'mine' }, true)).toBe(false)
  }
  await mkdir(join(home, '.aws'), { recursive: true })
  await writeFile(join(home, '.aws', 'config'), '[default]\n')
  expect(await cloud({ HOME: home })).toBe(true)
  expect(await cloud({ PLATFORM_STORAGE_ENDPOINT_URL: 'https://s3.example.com' })).toBe(true)
})
