import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findCases, inRegion, loadIacEval } from '../../../../eval/iac-eval.ts'
import { addProviders, loadScenarios, readScenario, type Scenario } from '../../../../eval/scenario/scenario.ts'
import { isJsonObject, type JsonObject } from '../../../../src/base/json.ts'
import { readHcl, textOf } from '../../../../src/hcl/read.ts'
import type { Statement } from '../../../../src/rules/intent/statement.ts'

/** A scenario with a solution that is known to be right. */
export interface Reference {
  scenario: Scenario
  code: string
  /** The file into which the code is written: one that the scenario names, or one that none has. */
  path: string
  /** The plan that was published with the solution; null where there is none. */
  published: JsonObject | null
}

/**
 * Every template of the repository of the data set that has a configuration; nothing without the repository. A
 * template's published plan tells what is expected of it: the policies of the templates leave most attributes open, and
 * four templates have an empty policy.
 */
export async function publishedReferences(repository: string): Promise<Reference[]> {
  const found = repository ? await fromTemplates(join(repository, 'templates')) : []
  return Promise.all(
    found.map(async ({ name, code, rego, published }) => {
      const scenario = await addProviders(
        readScenario(`iac-eval/${name}`, {
          cloud: 'aws',
          request: `Reference ${name}.`,
          repository: { files: { 'README.md': '# Infrastructure\n' } },
          providers: ['aws'],
          expect: { status: 'completed' },
        }),
      )
      const plan = statementsOf(published)
      const judgedBy = { ...scenario, expect: { ...scenario.expect, plan }, ...(rego.trim() !== '' && { rego }) }
      return { scenario: judgedBy, code: withoutAccount(code).code, path: WRITTEN, published }
    }),
  )
}

const WRITTEN = 'reference.tf'

/**
 * The cases of the data set in that folder with odd numbers, each with the solution of its authors; nothing without the
 * folder. The repository has the block of the provider, for the region of the solution; it must bring no finding of its
 * own into a round.
 */
export async function dataSetReferences(folder: string): Promise<Reference[]> {
  if (!folder) return []
  const paths = new Map((await findCases(folder, 'odd')).map(({ name, path }) => [name, path]))
  const scenarios = await loadIacEval(folder, 'odd')
  return Promise.all(
    scenarios.map(async (scenario) => {
      const text = await readFile(join(paths.get(scenario.name) ?? '', 'main.tf'), 'utf8')
      const { code, region } = withoutAccount(text)
      const placed = region === null ? scenario : inRegion(scenario, region)
      const expected = { ...placed.expect, audit_lacks: ['common.secrets.provider-argument'] }
      return { scenario: { ...placed, expect: expected }, code, path: WRITTEN, published: null }
    }),
  )
}

/** The evaluation's own scenarios of these groups that have a reference below `references`. */
export async function ownReferences(groups: readonly string[]): Promise<Reference[]> {
  const folder = join(import.meta.dirname, 'references')
  const scenarios = await loadScenarios()
  const all = await Promise.all(
    groups.map(async (group) => (await readdir(join(folder, group))).map((name) => `${group}/${name}`)),
  )
  return Promise.all(
    all.flat().map(async (path) => {
      const scenario = scenarios.find(({ name }) => name === path.replace(/\.tf$/, ''))
      if (!scenario) throw new Error(`there is no scenario for the reference ${path}`)
      const named = scenario.expect.files.find(({ contains }) => contains !== undefined)?.path
      const code = await readFile(join(folder, path), 'utf8')
      return { scenario, code, path: named ?? WRITTEN, published: null }
    }),
  )
}

interface Found {
  name: string
  code: string
  rego: string
  published: JsonObject
}

async function fromTemplates(folder: string): Promise<Found[]> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('main.tf')).sort()
  return Promise.all(
    paths.map(async (path) => {
      const type = path.split('/')[0] ?? ''
      const name = path.replace(/\/main\.tf$/, '')
      const rego = await readFile(join(folder, type, 'template.rego'), 'utf8').catch(() => '')
      const published = JSON.parse(await readFile(join(folder, name, 'tfplan.json'), 'utf8')) as JsonObject
      return { name, code: await readFile(join(folder, path), 'utf8'), rego, published }
    }),
  )
}

type Planned = { address: string; change: { after_sensitive: unknown } }
type Configured = { address: string; mode: string; type: string; expressions?: JsonObject }

/**
 * The contents of a published plan: the number of resources of each type, and every single value that its code names.
 * They are more than the twenty that a file of a scenario may hold. Sensitive values are left out, because no verdict
 * says whether they are right.
 */
function statementsOf(published: JsonObject): Statement[] {
  const { configuration, resource_changes } = published as {
    configuration: { root_module: { resources: Configured[] } }
    resource_changes: Planned[]
  }
  const sensitive = new Map(resource_changes.map(({ address, change }) => [address, change.after_sensitive]))
  const managed = configuration.root_module.resources.filter(({ mode }) => mode === 'managed')
  const types = [...new Set(managed.map(({ type }) => type))]
  const counts = types.map((type, index): Statement => {
    const value = managed.filter((each) => each.type === type).length
    const said = { id: `count${index}`, text: `${value} of ${type}`, words: '' }
    return { kind: 'resource_count', ...said, type, action: 'create', op: 'eq', value, where: [] }
  })
  const attributes = managed.flatMap(({ address, expressions = {} }) =>
    Object.entries(expressions).flatMap(([path, expression]): Statement[] => {
      const value = isJsonObject(expression) ? expression.constant_value : undefined
      const marks = sensitive.get(address)
      if (isJsonObject(marks) && marks[path] !== undefined) return []
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return []
      const said = { id: `${address}.${path}`, text: `${address}.${path}`, words: '' }
      return [{ kind: 'attribute', ...said, address, path, op: 'eq', value, every: false }]
    }),
  )
  return [...counts, ...attributes]
}

/**
 * A solution without the authors' account: the repository of a scenario has the block of the provider already, and what
 * further ones say of profiles and roles is left out.
 * @returns also the region of the provider, if the solution names it
 */
function withoutAccount(text: string): { code: string; region: string | null } {
  let code = ''
  let end = 0
  let region: string | null = null
  for (const block of readHcl(text).body.blocks) {
    if (block.type !== 'terraform' && !(block.type === 'provider' && block.labels[0] === 'aws')) continue
    code += text.slice(end, block.start)
    end = block.end
    const alias = textOf(block.body, 'alias')
    if (alias !== null) code += furtherProvider(alias, textOf(block.body, 'region'))
    else if (block.type === 'provider') region = textOf(block.body, 'region')
  }
  return { code: code + text.slice(end), region }
}

const furtherProvider = (alias: string, region: string | null) => `provider "aws" {
  alias                       = "${alias}"
  region                      = "${region}"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true
}
`
