import { CLOUDS, type Cloud } from '../../src/base/vocabulary.ts'
import { importExceptions } from '../../src/plan/imports/inventory.ts'
import { PROMPT_TYPES, type SeedPrompt } from '../../src/prompts/parse-seed.ts'
import { checkCode } from './code-rules.ts'
import { neededPrompts } from './markdown.ts'
import type { ProviderSchema } from './schema.ts'
import { type Complaint, textComplaints } from './text-rules.ts'

interface LintFinding extends Complaint {
  /** Qualified name of the prompt. The prompt itself may be missing. */
  prompt: string
}
interface LintOptions {
  /** Names that have to exist in addition to those that rounds ask for. */
  required?: readonly string[]
  schema?: ProviderSchema | null
}

type Prompts = ReadonlyMap<string, Pick<SeedPrompt, 'body'>>

/** Finds everything that makes a set of prompts unfit for use, ordered by prompt and line. */
export function lintPrompts(prompts: Prompts, { required = [], schema = null }: LintOptions = {}): LintFinding[] {
  const clouds = CLOUDS.filter((cloud) => [...prompts.keys()].some((name) => name.startsWith(`${cloud}-`)))
  const missing = [...new Set([...neededPrompts(clouds), ...required])].filter((name) => !prompts.has(name))
  const findings = [
    ...missing.map((prompt) => ({ prompt, rule: 'name', line: null, message: 'is missing' })),
    ...[...prompts].flatMap(([prompt, { body }]) => ofOne(prompt, body, schema).map((found) => ({ prompt, ...found }))),
    ...clouds.flatMap((cloud) => ofCloud(cloud, prompts)),
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

const BULLET = /^- (.*)$/
const bulletsOf = (body: string) =>
  body.split('\n').flatMap((text, index) => {
    const [, bullet] = BULLET.exec(text) ?? []
    return bullet === undefined ? [] : [{ text: bullet, line: index + 1 }]
  })

/** Checks that the list from which the compositor chooses names exactly the prompts that exist. */
function checkCatalogue(cloud: Cloud, body: string, resources: readonly string[]): LintFinding[] {
  const prompt = `${cloud}-guidelines-resources_list`
  const entries = bulletsOf(body).map(({ text, line }) => ({
    name: /^`([a-z0-9_]+)`: \S/.exec(text)?.[1] ?? null,
    line,
  }))
  const names = entries.map(({ name }) => name)
  const find = (message: string, line: number | null): LintFinding => ({ prompt, rule: 'catalogue', line, message })
  return [
    ...entries.flatMap(({ name, line }, index) => {
      if (name === null) return [find('has an entry that is not of the form - `name`: what it is for', line)]
      if (!resources.includes(`${cloud}-resources-${name}`)) return [find(`lists ${name}, which has no prompt`, line)]
      return names.indexOf(name) < index ? [find(`lists ${name} twice`, line)] : []
    }),
    ...resources
      .filter((name) => !names.includes(name.slice(`${cloud}-resources-`.length)))
      .map((name) => find(`does not list ${name.split('-')[2]}`, null)),
  ]
}

/** Checks that every type in the title of a resource prompt has a line about its name. */
function checkAbbreviations(cloud: Cloud, body: string, prompts: Prompts, resources: readonly string[]): LintFinding[] {
  const prompt = `${cloud}-guidelines-abbreviations`
  const lines = bulletsOf(body).map(({ text, line }) => ({
    type: /^([a-z0-9_]+): [a-z0-9]+$/.exec(text)?.[1] ?? null,
    line,
  }))
  const abbreviated = lines.map(({ type }) => type)
  const find = (message: string, line: number | null): LintFinding => ({ prompt, rule: 'abbreviations', line, message })
  return [
    ...lines.flatMap(({ type, line }, index) => {
      if (type === null) return [find('has an entry that is not of the form - type: abbreviation', line)]
      return abbreviated.indexOf(type) < index ? [find(`abbreviates ${type} twice`, line)] : []
    }),
    ...resources.flatMap((name) => {
      const titleTypes = [
        ...(/^# .*$/m.exec(prompts.get(name)?.body ?? '')?.[0] ?? '').matchAll(/`([a-z0-9_]+)`/g),
      ].map(([, type = '']) => type)
      if (titleTypes.length === 0)
        return [{ prompt: name, rule: 'abbreviations', line: 1, message: 'names no resource type in its title' }]
      return titleTypes
        .filter((type) => !abbreviated.includes(type))
        .map((type) => find(`has no line for ${type} of ${name}`, null))
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
  const find = (message: string): LintFinding => ({
    prompt: `${cloud}-guidelines-import_exceptions`,
    rule: 'import-exceptions',
    line: null,
    message,
  })
  if (cloud === 'kubernetes') return [find('is never read')]
  return importExceptions(body)
    .filter((id) => !IDENTIFIER[cloud].test(id))
    .map((id) => find(`lists '${id}', which is no identifier of this cloud`))
}
