import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import { missingVariables, providerVariables } from '../../config/provider-variables.ts'
import { isPriced } from '../../src/llm/prices.ts'
import { load, MINIMAL, problemsOf, yaml } from './support.ts'

const missing = (names: string) =>
  `LLM credentials missing from environment: ${names}. Set the listed env vars or configure llm.model_list in ` +
  'config.yaml.'
const models = (model: string, small = model) => `llm: {model: ${model}, small_model: ${small}}`

describe('credentials of the models', () => {
  const UNSET = Object.fromEntries(providerVariables.map((name) => [name, undefined]))

  test.each([
    ['openai', 'OPENAI_API_KEY'],
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['gemini', 'GOOGLE_API_KEY; GEMINI_API_KEY'],
    ['azure', 'AZURE_API_BASE; AZURE_API_VERSION; AZURE_API_KEY'],
    ['vertex_ai', 'VERTEXAI_PROJECT; VERTEXAI_LOCATION'],
    ['bedrock', 'AWS_ACCESS_KEY_ID; AWS_SECRET_ACCESS_KEY'],
    ['mistral', 'MISTRAL_API_KEY'],
    ['groq', 'GROQ_API_KEY'],
    ['deepseek', 'DEEPSEEK_API_KEY'],
    ['xai', 'XAI_API_KEY'],
    ['cohere', 'COHERE_API_KEY'],
    ['openrouter', 'OPENROUTER_API_KEY'],
    ['perplexity', 'PERPLEXITYAI_API_KEY'],
    ['together_ai', 'TOGETHERAI_API_KEY'],
    ['fireworks_ai', 'FIREWORKS_AI_API_KEY'],
    ['ollama', 'OLLAMA_API_BASE'],
    ['ollama_chat', 'OLLAMA_API_BASE'],
  ])('%s needs %s', async (provider, names) => {
    expect(await problemsOf(models(`${provider}/some-model`), UNSET)).toEqual([missing(names)])
    const env = { ...UNSET, ...Object.fromEntries(missingVariables(provider, () => false).map((name) => [name, 'x'])) }
    await expect(load(models(`${provider}/some-model`), env)).resolves.toBeDefined()
  })

  test.each([
    ['gemini', { GEMINI_API_KEY: 'x' }],
    ['gemini', { GOOGLE_API_KEY: 'x' }],
    ['bedrock', { AWS_PROFILE: 'x' }],
    ['bedrock', { AWS_WEB_IDENTITY_TOKEN_FILE: '/t' }],
    ['bedrock', { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/c' }],
    ['fireworks_ai', { FIREWORKS_API_KEY: 'x' }],
  ])('%s is content with %o', async (provider, env) => {
    await expect(load(models(`${provider}/m`), { ...UNSET, ...env })).resolves.toBeDefined()
  })

  test('all names of a provider are listed when one is missing', async () => {
    const env = { AZURE_API_BASE: 'https://a', AZURE_API_KEY: 'x', AZURE_API_VERSION: undefined }
    expect(await problemsOf(models('azure/m'), env)).toEqual([
      missing('AZURE_API_BASE; AZURE_API_VERSION; AZURE_API_KEY'),
    ])
  })

  test('both models are checked, names appear once, in order', async () => {
    expect(await problemsOf(models('openai/a', 'groq/b'), UNSET)).toEqual([missing('OPENAI_API_KEY; GROQ_API_KEY')])
    expect(await problemsOf(models('openai/a', 'openai/b'), UNSET)).toEqual([missing('OPENAI_API_KEY')])
  })

  test('a model for web search is checked when configured', async () => {
    expect(await problemsOf(yaml('llm.web_search_model', 'perplexity/sonar'))).toEqual([
      missing('PERPLEXITYAI_API_KEY'),
    ])
  })

  test('only presence counts: an empty value passes', async () => {
    await expect(load(null, { ANTHROPIC_API_KEY: '' })).resolves.toBeDefined()
    expect(await problemsOf(null, { ANTHROPIC_API_KEY: undefined })).toEqual([missing('ANTHROPIC_API_KEY')])
  })

  test.each([
    ['custom_openai', 'CUSTOM_OPENAI_API_BASE', 'CUSTOM_OPENAI_API_KEY'],
    ['hosted_vllm', 'HOSTED_VLLM_API_BASE', 'HOSTED_VLLM_API_KEY'],
  ])('%s is not checked; its variables are read when they are there', async (provider, base, key) => {
    const variables = { [base]: 'http://models.example/v1', [key]: 'own-key' }
    expect((await load(models(`${provider}/m`), { ...UNSET, ...variables })).llm.credentials).toEqual(variables)
    expect((await load(models(`${provider}/m`), UNSET)).llm.credentials).toEqual({})
  })

  test.each([
    'foo/bar',
    'huggingface/x',
    'bare-name',
    'constructor/x',
  ])('%s cannot be checked and passes', async (model) => {
    await expect(load(models(model), UNSET)).resolves.toBeDefined()
  })
})

describe('model_list', () => {
  const entry = (params: string, name = 'large') => `{model_name: ${name}, litellm_params: {${params}}}`
  const list = (...entries: string[]) => `llm: {model: large, small_model: large, model_list: [${entries.join(', ')}]}`

  test('entries are kept with all their parameters; keys beside them are ignored', async () => {
    const file = `llm:
  model: large
  small_model: large
  fallbacks: [{large: [other]}]
  model_list:
    - model_name: large
      litellm_params: {model: openai/gpt, api_base: "http://m/v1", api_key: os.environ/CUSTOM, rpm: 5}
      fallback: other`
    const config = await load(file, { OPENAI_API_KEY: 'k', CUSTOM: 'secret' })
    expect(config.llm.model_list).toEqual([
      {
        model_name: 'large',
        litellm_params: { model: 'openai/gpt', api_base: 'http://m/v1', api_key: 'os.environ/CUSTOM', rpm: 5 },
      },
    ])
    expect(config.llm.credentials).toMatchObject({
      OPENAI_API_KEY: 'k',
      CUSTOM: 'secret',
      ANTHROPIC_API_KEY: 'anthropic-key',
    })
    expect(config.llm).not.toHaveProperty('fallbacks')
  })

  test('only the model of an entry is required; it names the entry', async () => {
    const file = 'llm: {model: foo/bar, small_model: foo/bar, model_list: [{litellm_params: {model: foo/bar}}]}'
    expect((await load(file)).llm.model_list).toEqual([{ model_name: 'foo/bar', litellm_params: { model: 'foo/bar' } }])
  })

  test.each([
    ['{model_name: large}', 'llm.model_list.0.litellm_params is required'],
    [entry(''), 'llm.model_list.0.litellm_params.model is required'],
    [entry('model: ""'), 'llm.model_list.0.litellm_params.model must not be empty'],
    [entry('model: 5'), 'llm.model_list.0.litellm_params.model must be a string'],
    ['{model_name: large, litellm_params: x}', 'llm.model_list.0.litellm_params must be a mapping'],
    ['large', 'llm.model_list.0 must be a mapping'],
    ['{model_name: large, model: foo/bar}', 'llm.model_list.0.litellm_params is required'],
  ])('entry %s fails', async (text, expected) => {
    expect(await problemsOf(list(text))).toEqual([expected])
  })

  test('both models must be a model_name', async () => {
    const file = `llm: {model: large, small_model: tiny, model_list: [${entry('model: foo/bar')}]}`
    expect(await problemsOf(file)).toEqual(['llm.small_model must equal a model_name of llm.model_list'])
    expect(await problemsOf(`llm: {model_list: [${entry('model: foo/bar')}]}`)).toEqual([
      'llm.model must equal a model_name of llm.model_list',
      'llm.small_model must equal a model_name of llm.model_list',
    ])
  })

  test('credentials are checked per entry by the default names, whatever the entry references', async () => {
    const file = list(entry('model: openai/a, api_key: os.environ/CUSTOM'), entry('model: groq/b'))
    expect(await problemsOf(file, { CUSTOM: 'set' })).toEqual([missing('OPENAI_API_KEY; GROQ_API_KEY')])
  })

  test('aliases are not validated as models', async () => {
    const file =
      'llm: {model: openai/alias, small_model: openai/alias, model_list: ' +
      `[${entry('model: foo/bar', 'openai/alias')}]}`
    await expect(load(file)).resolves.toBeDefined()
  })
})

describe('the model budget', () => {
  const priced = (yaml: string, env = {}) =>
    loadConfig({ ...MINIMAL, ...env, PLATFORM_CONFIG: 'c' }, async () => yaml, undefined, isPriced)
  const budget = 'budget: {round: {dollars: 1}, user_day: {tokens: 1000, dollars: 2.5}, platform_day: {dollars: 40}}'

  test('is off, and is kept as it is written', async () => {
    expect((await load()).llm.budget).toEqual({})
    expect((await priced(`llm: {${budget}}`)).llm.budget).toEqual({
      round: { dollars: 1 },
      user_day: { tokens: 1000, dollars: 2.5 },
      platform_day: { dollars: 40 },
    })
  })

  test.each([
    ['budget: 5', 'llm.budget must be a mapping'],
    ['budget: []', 'llm.budget must be a mapping'],
    ['budget: {day: {tokens: 5}}', 'llm.budget.day is unknown'],
    ['budget: {round: 5}', 'llm.budget.round must be a mapping'],
    ['budget: {round: []}', 'llm.budget.round must be a mapping'],
    ['budget: {round: null}', 'llm.budget.round must be a mapping'],
    ['budget: {round: {token: 5}}', 'llm.budget.round.token is unknown'],
    ['budget: {user_day: {tokens: 0}}', 'llm.budget.user_day.tokens must be at least 1'],
    ['budget: {user_day: {tokens: 1.5}}', 'llm.budget.user_day.tokens must be an integer'],
    ['budget: {user_day: {tokens: many}}', 'llm.budget.user_day.tokens must be an integer'],
    ['budget: {platform_day: {dollars: 0}}', 'llm.budget.platform_day.dollars must be greater than 0'],
    ['budget: {platform_day: {dollars: "4"}}', 'llm.budget.platform_day.dollars must be a number'],
  ])('%s is refused', async (line, problem) => {
    expect(await problemsOf(`llm: {${line}}`)).toEqual([problem])
  })

  test('of dollars needs a price for every model that may be called, whatever names it', async () => {
    const env = { OPENAI_API_KEY: 'k', FOO_API_KEY: 'k' }
    const models = 'model: openai/own, small_model: anthropic/claude-haiku-4-5, web_search_model: perplexity/sonar'
    await expect(priced(`llm: {${budget}, ${models}}`, { ...env, PERPLEXITYAI_API_KEY: 'k' })).rejects.toThrow(
      'llm.budget.round.dollars needs the price of every model, and that of openai/own, perplexity/sonar is not known: ' +
        'set it in llm.prices, or limit tokens.',
    )
    const listed =
      'model: large, small_model: large, model_list: [{model_name: large, litellm_params: {model: openai/own}}]'
    await expect(priced(`llm: {${budget}, ${listed}}`, env)).rejects.toThrow('that of openai/own is not known')
    const prices = 'prices: {"openai/o*": {input: 1, output: 2}}'
    await expect(priced(`llm: {${budget}, ${listed}, ${prices}}`, env)).resolves.toBeDefined()
    await expect(priced(`llm: {budget: {round: {tokens: 5}}, ${listed}}`, env)).resolves.toBeDefined()
  })
})

describe('prices and the token budget', () => {
  test('prices are kept by pattern, the budget is off', async () => {
    const { llm } = await load('llm: {prices: {"openai/a*": {input: 1, output: 2.5, cached_input: 0}}}')
    expect(llm.prices).toEqual({ 'openai/a*': { input: 1, output: 2.5, cached_input: 0 } })
    expect(llm.max_session_tokens).toBe(0)
  })

  test.each([
    ['prices: {m: {input: 1}}', 'llm.prices.m.output is required'],
    ['prices: {m: {input: -1, output: 1}}', 'llm.prices.m.input must be at least 0'],
    ['prices: {m: {input: 1, output: cheap}}', 'llm.prices.m.output must be a number'],
    ['prices: {m: 3}', 'llm.prices.m must be a mapping'],
    ['prices: []', 'llm.prices must be a mapping'],
    ['max_session_tokens: -1', 'llm.max_session_tokens must be at least 0'],
    ['max_session_tokens: many', 'llm.max_session_tokens must be an integer'],
  ])('%s is refused', async (line, problem) => {
    expect(await problemsOf(`llm: {${line}}`)).toEqual([problem])
  })

  test('what only some providers need is read for them alone', async () => {
    const env = {
      AWS_ACCESS_KEY_ID: 'AKIA',
      AWS_SECRET_ACCESS_KEY: 'aws-secret',
      HOME: '/home/me',
      VERTEXAI_PROJECT: 'p',
      VERTEXAI_LOCATION: 'l',
    }
    expect((await load(models('bedrock/m'), env)).llm).toMatchObject({
      aws: { access_key: 'AKIA', secret_key: 'aws-secret' },
    })
    expect((await load(models('vertex_ai/m'), env)).llm.google_credentials_file).toBe(
      '/home/me/.config/gcloud/application_default_credentials.json',
    )
    const other = (await load(null, env)).llm
    expect([other.aws, other.google_credentials_file]).toEqual([undefined, undefined])
  })
})
