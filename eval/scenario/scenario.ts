import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { parse } from 'yaml'
import { CLOUDS } from '../../src/base/vocabulary.ts'
import { OPERATORS, readStatements, type Statement } from '../../src/rules/intent/statement.ts'

export const MODES = ['generate', 'partial-drift', 'full-drift', 'partial-import', 'full-import'] as const

/** Providers that belong to no cloud. */
export const SMALL_PROVIDERS = ['archive', 'cloudflare', 'http', 'local', 'null', 'random', 'time', 'tls'] as const
/** Clouds and small providers that a scenario may need. */
export type ProviderName = (typeof CLOUDS)[number] | (typeof SMALL_PROVIDERS)[number]

const text = v.pipe(v.string(), v.trim(), v.nonEmpty('must not be blank'))
const path = v.pipe(text, v.regex(/^(?!\/)(?!.*(^|\/)\.\.(\/|$)).+$/, 'must stay inside the repository'))
const files = v.pipe(
  v.record(path, v.string()),
  v.check((all) => Object.keys(all).length > 0, 'must name a file'),
)
type Files = v.InferOutput<typeof files>
const PLACE = '{n}'
/** Files that differ only in a number: `{n}` in path and text becomes 001, 002 and so on. */
const repeatedFiles = v.pipe(
  v.strictObject({
    count: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2000)),
    path: v.pipe(
      path,
      v.check((value) => value.includes(PLACE), `must contain ${PLACE}`),
    ),
    text: v.pipe(v.string(), v.nonEmpty('must not be blank')),
  }),
  v.transform(
    ({ count, path: name, text: body }): Files =>
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => {
          const number = String(index + 1).padStart(3, '0')
          return [name.replaceAll(PLACE, number), body.replaceAll(PLACE, number)]
        }),
      ),
  ),
)
const scalar = v.union([v.string(), v.number(), v.boolean()])
const strict = v.strictObject

/** Words of a text, ignoring case. `|` separates alternatives. `begins` is about its first line. */
const words = strict({
  contains: v.exactOptional(text),
  lacks: v.exactOptional(text),
  begins: v.exactOptional(text),
})
export type Words = v.InferOutput<typeof words>

/** A statement about a value of a report, for example `import.summary.imported`. */
const condition = strict({ path: text, op: v.picklist(OPERATORS), value: v.exactOptional(scalar) })

const expectations = v.pipe(
  strict({
    /** Status of the last round. */
    status: v.picklist(['completed', 'uncompleted', 'failed']),
    /** Pattern of the last message. `*` stands for any text, and `|` separates alternatives. */
    message: v.exactOptional(text),
    locked: v.exactOptional(v.boolean()),
    /** True if the session must have changed code. */
    code_changed: v.exactOptional(v.boolean()),
    /** Addresses of the resources in the drift that was read, in any order. */
    drift: v.exactOptional(v.array(text)),
    reports: v.optional(v.array(condition), []),
    /** Statements about a new plan of the session's branch, which is made after the last round. */
    plan: v.optional(v.array(v.record(v.string(), v.unknown())), []),
    /** True if that plan must change nothing. */
    plan_empty: v.exactOptional(v.boolean()),
    /** Patterns that files of the branch must or must not contain. Paths are relative to the engine root. */
    files: v.optional(v.array(strict({ path, contains: v.exactOptional(text), lacks: v.exactOptional(text) })), []),
    /** Resources that the plan moves without deleting or creating anything; patterns of both addresses. */
    moved: v.optional(v.array(strict({ from: text, to: text })), []),
    /**
     * Number of blocks of the branch that have an identifier in a comment, each of which must be in the state with the
     * object of that identifier.
     */
    identified: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
    /** True if the engine's `fmt` must leave all files unchanged. */
    formatted: v.exactOptional(v.literal(true)),
    /** The kept answer to the last request. */
    turn: v.optional(v.array(words), []),
    /** Patterns of rule ids that the last compliance check must not have found. */
    audit_lacks: v.optional(v.array(text), []),
    /** Most model calls of all rounds together, without status texts. */
    max_calls: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0))),
    /** Remarks of code for reviewers, of all rounds together. */
    notes: v.optional(v.array(words), []),
    /** Title and text of the pull request, which is opened after the last round; `begins` is about the text. */
    pull_request: v.optional(v.array(words), []),
  }),
  v.transform(({ plan, ...rest }) => ({ ...rest, plan: parseStatements(plan) })),
)

const scenarioSchema = strict({
  cloud: v.picklist(CLOUDS),
  mode: v.optional(v.picklist(MODES), 'generate'),
  request: text,
  repository: v.union(
    [
      strict({ sample: text }),
      v.pipe(
        strict({ files, repeated: v.optional(v.array(repeatedFiles), []) }),
        v.transform(({ files: own, repeated }) => ({ files: Object.assign({}, ...repeated, own) as Files })),
      ),
    ],
    'must have either sample or files',
  ),
  iac_path: v.optional(v.nullable(path), null),
  scope: v.optional(text, '123456789012'),
  seed: v.optional(
    strict({
      /** `applied`: the code was applied. `imported`: the blocks with an identifier in a comment were imported. */
      state: v.picklist(['applied', 'imported']),
      /** Settings of built-in resources that were changed outside of the code afterwards. */
      changed: v.optional(v.array(strict({ name: text, attribute: text, from: scalar, to: scalar })), []),
    }),
  ),
  /** Steps after the first round, if it completed. */
  follow_up: v.optional(v.array(v.union([strict({ request: text }), strict({ apply: v.literal(true) })])), []),
  /** Clouds, and names of providers, that the engine downloads or finds in a mirror. */
  providers: v.optional(v.array(v.picklist([...CLOUDS, ...SMALL_PROVIDERS])), []),
  /** Environment variables that a plan needs if invented credentials are not enough. */
  variables: v.optional(v.array(text), []),
  /** Environment variables that must not be set, for example those of a real account. */
  unset_variables: v.optional(v.array(text), []),
  note: v.exactOptional(text),
  /** True if the scripted model has a recording for it. `only` excludes other models. */
  recorded: v.optional(v.union([v.boolean(), v.literal('only')]), false),
  expect: expectations,
})

export type Expectations = Omit<v.InferOutput<typeof expectations>, 'plan'> & { plan: Statement[] }
export type Scenario = Omit<v.InferOutput<typeof scenarioSchema>, 'expect'> & {
  /** Folder and file name, for example `builtin/queue`. */
  name: string
  expect: Expectations
  /** A policy in Rego, in place of statements. */
  rego?: string
  /** Further files of the repository in base64, by path. */
  supplement?: Record<string, string>
}

/** A scenario cannot be read. The text names it and the reason. */
export class ScenarioError extends Error {}

/** Checks and completes the document of a scenario. Errors: `ScenarioError`. */
export function readScenario(name: string, document: unknown): Scenario {
  const parsed = v.safeParse(scenarioSchema, document)
  if (parsed.success) return { name, ...parsed.output }
  const problems = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'scenario'}: ${issue.message}`)
  throw new ScenarioError(`${name}: ${problems.join('; ')}`)
}

/** Reads the statements in the form of the intent check. The sentence of the request may be missing. */
function parseStatements(list: readonly Record<string, unknown>[]): Statement[] {
  const { statements, faults } = readStatements(list.map((entry) => ({ text: summaryOf(entry), ...entry })))
  if (faults.length > 0) throw new ScenarioError(`expect.plan: ${faults.join('; ')}`)
  if (statements.length !== list.length) throw new ScenarioError('expect.plan: has too many statements')
  return statements
}

const summaryOf = (entry: Record<string, unknown>): string =>
  Object.entries(entry)
    .map(([key, value]) =>
      key === 'kind' ? String(value) : `${key} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
    )
    .join(', ')

const FOLDER = fileURLToPath(new URL('../scenarios/', import.meta.url))
const PROVIDERS = fileURLToPath(new URL('../providers/', import.meta.url))

/**
 * Loads all scenarios of a folder (`<group>/<name>.yaml`), by default the shipped ones, ordered by name. Errors:
 * `ScenarioError`, with every fault of every file.
 */
export async function loadScenarios(folder = FOLDER): Promise<Scenario[]> {
  const scenarios: Scenario[] = []
  const faults: string[] = []
  for (const group of (await readdir(folder)).sort())
    for (const file of (await readdir(join(folder, group))).sort()) {
      const name = `${group}/${file.replace(/\.yaml$/, '')}`
      try {
        if (!file.endsWith('.yaml')) throw new ScenarioError(`${name}: is no YAML file`)
        scenarios.push(await addProviders(readScenario(name, parse(await readFile(join(folder, group, file), 'utf8')))))
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
        faults.push(text.startsWith(name) ? text : `${name}: ${text}`)
      }
    }
  if (faults.length > 0) throw new ScenarioError(faults.join('\n'))
  return scenarios
}

/** Adds the blocks of the providers that a scenario needs, unless its files have their own. */
export async function addProviders(scenario: Scenario): Promise<Scenario> {
  const { repository, providers } = scenario
  if (!('files' in repository)) return scenario
  const files = { ...repository.files }
  for (const provider of providers) {
    const name = join(scenario.iac_path ?? '', `provider-${provider}.tf`)
    files[name] ??= await readFile(join(PROVIDERS, `${provider}.tf`), 'utf8')
  }
  return { ...scenario, repository: { files } }
}

/** Returns a hash that changes whenever anything in a scenario changes. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
