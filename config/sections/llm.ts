import * as v from 'valibot'
import { decimal, entryText, flag, integer, mappingError, nonEmpty, text } from '../fields.ts'
import { missingVariables, providerOf, providerVariables } from '../provider-variables.ts'
import type { Source } from '../source.ts'
import { readAws } from './aws.ts'

export type LlmConfig = ReturnType<typeof readLlm>
/** US dollars per million tokens. */
export type ModelPrice = v.InferOutput<typeof price>
/** The limit of each kind of budget; without one there is no limit. */
export type ModelBudget = Partial<Record<'round' | 'user_day' | 'platform_day', { tokens?: number; dollars?: number }>>
/** True if the price of a model is known, from the given prices or from the built-in table. */
export type IsPriced = (model: string, prices: ModelPrices) => boolean
/** Prices by `<provider>/<model-id>`, in which `*` matches any text. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>

const modelListEntry = v.pipe(
  v.object(
    {
      model_name: v.optional(entryText),
      litellm_params: v.looseObject(
        {
          model: entryText,
          api_base: v.exactOptional(v.string('must be a string')),
          api_key: v.exactOptional(v.string('must be a string')),
        },
        mappingError,
      ),
    },
    mappingError,
  ),
  v.transform(({ model_name, litellm_params }) => ({
    model_name: model_name ?? litellm_params.model,
    litellm_params,
  })),
)
/** One entry of the model list. Further keys of `litellm_params` are kept as they are. */
export type ModelListEntry = v.InferOutput<typeof modelListEntry>

/** Entries of which only `litellm_params.model` is required. It is also the name of an entry without `model_name`. */
const modelList = v.optional(v.array(modelListEntry, 'must be a list'), () => [])

const dollars = v.pipe(v.number('must be a number'), v.finite('must be a number'), v.minValue(0, 'must be at least 0'))
const price = v.object(
  {
    input: dollars,
    output: dollars,
    /** The price of input read from the provider's cache; default: `input`. */
    cached_input: v.exactOptional(dollars),
    /** The price of input written to that cache; default: `input`. */
    cache_write: v.exactOptional(dollars),
  },
  mappingError,
)

/** Says that a value is no mapping, or that it has a key that does not exist: a misspelt limit would limit nothing. */
const budgetError = ({ expected }: { expected: string | null }) =>
  expected === 'never' ? 'is unknown' : 'must be a mapping'

/** Prices by model pattern; `input` and `output` are required. */
const prices = v.optional(
  v.pipe(
    v.unknown(),
    v.check((value) => !Array.isArray(value), 'must be a mapping'),
    v.record(v.string(), price, 'must be a mapping'),
  ),
  (): ModelPrices => ({}),
)

/** Makes a mapping that refuses other keys. A list is an object for the library. */
const strictMapping = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.pipe(
    v.unknown(),
    v.check((value) => !Array.isArray(value), 'must be a mapping'),
    v.strictObject(entries, budgetError),
  )

/** A limit of tokens, input and output, and one of US dollars; either alone is enough, and without both there is none. */
const limit = v.exactOptional(
  strictMapping({
    tokens: v.exactOptional(
      v.pipe(v.number('must be an integer'), v.safeInteger('must be an integer'), v.minValue(1, 'must be at least 1')),
    ),
    dollars: v.exactOptional(v.pipe(dollars, v.gtValue(0, 'must be greater than 0'))),
  }),
)

/** What models may cost: each round, each user in a day, and all users together in a day. A day is one of UTC. */
const budget = v.optional(
  strictMapping({ round: limit, user_day: limit, platform_day: limit }),
  (): ModelBudget => ({}),
)

export const llmSchema = v.object({
  /** `<provider>/<model-id>`, or a `model_name` of `model_list`. */
  model: text('anthropic/claude-sonnet-5', nonEmpty),
  small_model: text('anthropic/claude-haiku-4-5', nonEmpty),
  /** The model that searches the web. If empty, the model of the searching chain does so itself. */
  web_search_model: text(''),
  temperature: decimal(0.1, { min: 0 }),
  max_output_tokens: integer(32000, { min: 1 }),
  timeout: decimal(600, { above: 0 }),
  /** Whether answers are asked for as streams. */
  stream: flag(true),
  /** Seconds that may pass between two pieces of a streamed answer. */
  stream_idle_timeout: decimal(120, { above: 0 }),
  model_list: modelList,
  /** Maximum tokens of a model call including the answer; 0 takes the number from the built-in table of models. */
  context_tokens: integer(0, { min: 0 }),
  /** Maximum tokens of all rounds of a session together; 0 means no limit. */
  max_session_tokens: integer(0, { min: 0 }),
  budget,
  /** Prices that override the built-in table. */
  prices,
  /** Folder in which the worker records the model traffic of each round; empty means no recording. */
  record_folder: text(''),
})

type Values = v.InferOutput<typeof llmSchema>
const ROLES = ['model', 'small_model'] as const

export function readLlm(source: Source, isPriced: IsPriced) {
  const { values, failed } = source.section('llm', llmSchema)
  if (!failed.has('model_list')) {
    checkAliases(source, values, failed)
    checkCredentials(source, modelsToCheck(values, failed))
    if (!failed.has('prices')) checkPrices(source, values, isPriced)
  }
  const uses = (provider: string) => everyModel(values).some((model) => providerOf(model).startsWith(provider))
  return {
    ...values,
    ...(uses('bedrock') && { aws: readAws(source) }),
    ...(uses('vertex_ai') && { google_credentials_file: googleCredentialsFile(source) }),
    credentials: collectCredentials(source, values),
  }
}

const everyModel = (values: Values): string[] => [
  ...values.model_list.map((entry) => entry.litellm_params.model),
  ...[...ROLES, 'web_search_model' as const].map((role) => values[role]),
]

/** Returns the path of the file that `gcloud auth application-default login` writes; empty without a home folder. */
function googleCredentialsFile({ variable }: Source): string {
  const home = variable('HOME')
  const folder = variable('CLOUDSDK_CONFIG') || (home === '' ? '' : `${home}/.config/gcloud`)
  return folder === '' ? '' : `${folder}/application_default_credentials.json`
}

function checkAliases(source: Source, values: Values, failed: ReadonlySet<string>): void {
  if (values.model_list.length === 0) return
  const names = new Set(values.model_list.map((entry) => entry.model_name))
  for (const role of ROLES)
    if (!failed.has(role) && !names.has(values[role]))
      source.problem(`llm.${role} must equal a model_name of llm.model_list`)
}

/** Returns the models whose credentials are checked: those of the list, or without a list the three configured ones. */
function modelsToCheck(values: Values, failed: ReadonlySet<string>): string[] {
  if (values.model_list.length > 0) return values.model_list.map((entry) => entry.litellm_params.model)
  return [...ROLES, 'web_search_model' as const].filter((role) => !failed.has(role)).map((role) => values[role])
}

/** Reports variables of providers that are not set. A variable set to an empty text passes. */
function checkCredentials(source: Source, models: readonly string[]): void {
  const missing = new Set(models.flatMap((model) => missingVariables(providerOf(model), source.exists)))
  if (missing.size > 0)
    source.problem(
      `LLM credentials missing from environment: ${[...missing].join('; ')}. ` +
        'Set the listed env vars or configure llm.model_list in config.yaml.',
    )
}

/** Reports limits of dollars that cannot be kept, because a model that may be called has no known price. */
function checkPrices(source: Source, values: Values, isPriced: IsPriced): void {
  const limits = Object.entries(values.budget).filter(([, limit]) => limit?.dollars !== undefined)
  if (limits.length === 0) return
  const aliases = new Set(values.model_list.map(({ model_name }) => model_name))
  const called = new Set(everyModel(values).filter((model) => model !== '' && !aliases.has(model)))
  const listed = values.model_list.map(({ litellm_params }) => litellm_params.model)
  const unpriced = [...new Set([...listed, ...called])].filter((model) => !isPriced(model, values.prices))
  if (unpriced.length > 0)
    source.problem(
      `llm.budget.${limits[0]?.[0]}.dollars needs the price of every model, and that of ${unpriced.join(', ')} is not ` +
        'known: set it in llm.prices, or limit tokens.',
    )
}

function collectCredentials(source: Source, values: Values): Record<string, string> {
  const names = new Set([...providerVariables, ...referencedVariables(values.model_list)])
  return Object.fromEntries([...names].filter(source.exists).map((name) => [name, source.variable(name)]))
}

const REFERENCE = /^os\.environ\/(.+)$/

/** Returns the names of the variables to which a value refers as `os.environ/<VARIABLE>`, at any depth. */
function referencedVariables(value: unknown): string[] {
  if (typeof value === 'string') {
    const name = REFERENCE.exec(value)?.[1]
    return name === undefined ? [] : [name]
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(referencedVariables) : []
}
