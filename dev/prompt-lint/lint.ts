import { CLOUDS, type Cloud } from '../../src/base/vocabulary.ts'
import { importExceptions } from '../../src/plan/imports/inventory.ts'
import type { LockedProvider } from '../../src/plan/schema/lock-file.ts'
import { PROMPT_TYPES, type SeedPrompt } from '../../src/prompts/parse-seed.ts'
import { neededPrompts } from './markdown.ts'
import { type Complaint, checkCode, textComplaints } from './rules.ts'
import type { ProviderSchema } from './schema.ts'
import { claimOf, findTooNew, isBeyond } from './versions.ts'

interface LintFinding extends Complaint {
  /** Qualified name of the prompt. The prompt itself may be missing. */
  prompt: string
}
interface LintOptions {
  /** Names that have to exist in addition to those that rounds ask for. */
  required?: readonly string[]
  schema?: ProviderSchema | null
  /** The providers that the schema is of. */
  installed?: readonly LockedProvider[]
}

type Prompts = ReadonlyMap<string, Pick<SeedPrompt, 'body'>>

/** Finds everything that makes a set of prompts unfit for use, ordered by prompt and line. */
export function lintPrompts(
  prompts: Prompts,
  { required = [], schema = null, installed = [] }: LintOptions = {},
): LintFinding[] {
  const clouds = CLOUDS.filter((cloud) => [...prompts.keys()].some((name) => name.startsWith(`${cloud}-`)))
  const missing = [...new Set([...neededPrompts(clouds), ...required])].filter((name) => !prompts.has(name))
  const findings = [
    ...missing.map((prompt) => ({ prompt, rule: 'name', line: null, message: 'is missing' })),
    ...[...prompts].flatMap(([prompt, { body }]) => ofOne(prompt, body, schema).map((found) => ({ prompt, ...found }))),
    ...clouds.flatMap((cloud) => [...ofCloud(cloud, prompts), ...checkVersions(cloud, prompts, installed)]),
  ]
  return findings.toSorted((a, b) => compare(a.prompt, b.prompt) || (a.line ?? 0) - (b.line ?? 0))
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function ofOne(name: string, body: string, schema: ProviderSchema | null): Complaint[] {
  const type = PROMPT_TYPES.find((known) => /^[a-z0-9]+-([a-z]+)-[a-z0-9][a-z0-9_]*$/.exec(name)?.[1] === known)
  if (type === undefined) return [{ rule: 'name', line: null, message: 'is no name of a prompt' }]
  return [...textComplaints(type, body), ...checkCode(body, schema)]
}

function ofCloud(cloud: Cloud, prompts: Prompts): LintFinding[] {
  const body = (name: string) => prompts.get(`${cloud}-guidelines-${name}`)?.body ?? ''
  const resources = [...prompts.keys()].filter((name) => name.startsWith(`${cloud}-resources-`))
  return [
    ...checkCatalogue(cloud, body('resources_list'), resources),
    ...checkAbbreviations(cloud, body('abbreviations'), prompts, resources),
    ...exceptions(cloud, prompts.get(`${cloud}-guidelines-import_exceptions`)?.body ?? null),
  ]
}

/** Checks that the texts of a cloud say which versions of its provider they are for, and need no other. */
function checkVersions(cloud: Cloud, prompts: Prompts, installed: readonly LockedProvider[]): LintFinding[] {
  const name = `${cloud}-guidelines-resource_creation`
  const text = prompts.get(name)
  const claim = text ? claimOf(text.body) : null
  const find = (prompt: string, line: number | null, message: string) => ({ prompt, rule: 'versions', line, message })
  if (!claim) return text ? [find(name, null, 'does not say which versions of the provider it is written for')] : []
  const own = [...prompts].filter(([prompt]) => prompt.startsWith(`${cloud}-`))
  return [
    ...installed
      .filter((provider) => isBeyond(claim, provider))
      .map(({ source, version }) => find(name, null, `is not written for ${source} ${version}, whose schema is given`)),
    ...own.flatMap(([prompt, { body }]) =>
      findTooNew(claim, body).map(({ line, message }) => find(prompt, line, message)),
    ),
  ]
}

/** Reads the entries of a bulleted list: what `form` captures, null for an entry of another form. */
const entriesOf = (body: string, form: RegExp) =>
  body.split('\n').flatMap((text, index) => {
    const [, bullet] = /^- (.*)$/.exec(text) ?? []
    return bullet === undefined ? [] : [{ name: form.exec(bullet)?.[1] ?? null, line: index + 1 }]
  })

/** Checks that the list from which the compositor chooses names exactly the prompts that exist. */
function checkCatalogue(cloud: Cloud, body: string, resources: readonly string[]): LintFinding[] {
  const entries = entriesOf(body, /^`([a-z0-9_]+)`: \S/)
  const names = entries.map(({ name }) => name)
  const find = (message: string, line: number | null): LintFinding[] => [
    { prompt: `${cloud}-guidelines-resources_list`, rule: 'catalogue', line, message },
  ]
  return [
    ...entries.flatMap(({ name, line }, index) => {
      if (name === null) return find('has an entry that is not of the form - `name`: what it is for', line)
      if (!resources.includes(`${cloud}-resources-${name}`)) return find(`lists ${name}, which has no prompt`, line)
      return names.indexOf(name) < index ? find(`lists ${name} twice`, line) : []
    }),
    ...resources
      .filter((name) => !names.includes(name.slice(`${cloud}-resources-`.length)))
      .flatMap((name) => find(`does not list ${name.split('-')[2]}`, null)),
  ]
}

/** Checks that every type in the title of a resource prompt has a line about its name. */
function checkAbbreviations(cloud: Cloud, body: string, prompts: Prompts, resources: readonly string[]): LintFinding[] {
  const entries = entriesOf(body, /^([a-z0-9_]+): [a-z0-9]+$/)
  const abbreviated = entries.map(({ name }) => name)
  const list = `${cloud}-guidelines-abbreviations`
  const find = (message: string, line: number | null, prompt = list): LintFinding[] => [
    { prompt, rule: 'abbreviations', line, message },
  ]
  return [
    ...entries.flatMap(({ name, line }, index) => {
      if (name === null) return find('has an entry that is not of the form - type: abbreviation', line)
      return abbreviated.indexOf(name) < index ? find(`abbreviates ${name} twice`, line) : []
    }),
    ...resources.flatMap((name) => {
      const title = /^# .*$/m.exec(prompts.get(name)?.body ?? '')?.[0] ?? ''
      const types = [...title.matchAll(/`([a-z0-9_]+)`/g)].map(([, type = '']) => type)
      if (types.length === 0) return find('names no resource type in its title', 1, name)
      return types
        .filter((type) => !abbreviated.includes(type))
        .flatMap((type) => find(`has no line for ${type} of ${name}`, null))
    }),
  ]
}

/** The form of identifiers of each cloud. An entry of the list of exceptions that has another form has no effect. */
const IDENTIFIER: Record<Exclude<Cloud, 'kubernetes'>, RegExp> = {
  aws: /^arn:[a-z-]+:/,
  azure: /^\/(subscriptions|providers)\//i,
  gcp: /^(\S+|[a-z][a-z0-9-]{4,28}[a-z0-9] (roles|projects|organizations)\/\S+ \S+)$/,
  oci: /^(ocid1\.|n\/)\S+$/,
}

function exceptions(cloud: Cloud, body: string | null): LintFinding[] {
  if (body === null) return []
  const prompt = `${cloud}-guidelines-import_exceptions`
  const find = (message: string): LintFinding => ({ prompt, rule: 'import-exceptions', line: null, message })
  if (cloud === 'kubernetes') return [find('is never read')]
  return importExceptions(body)
    .filter((id) => !IDENTIFIER[cloud].test(id))
    .map((id) => find(`lists '${id}', which is no identifier of this cloud`))
}
