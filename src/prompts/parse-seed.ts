import * as v from 'valibot'
import { parse } from 'yaml'

const PROMPT_SCOPES = ['general', 'azure', 'gcp', 'aws', 'oci', 'kubernetes'] as const
export const PROMPT_TYPES = ['guidelines', 'resources', 'compliance'] as const

interface SeedFile {
  /** Relative to the seed folder, POSIX: `<scope>/<type>/<name>.yaml`. */
  path: string
  text: string
}
const content = v.object({ body: v.pipe(v.string(), v.regex(/\S/)), description: v.optional(v.string(), '') })
export type SeedPrompt = v.InferOutput<typeof content>

/** Some seed files are invalid; the message has one line for each of them. */
export class SeedError extends Error {
  override readonly name = 'SeedError'
}

const NAME = /^[a-z0-9_]+$/

/** Reads prompts by qualified name, in the order of the files. Throws `SeedError` with all problems. */
export function parseSeeds(files: readonly SeedFile[]): Map<string, SeedPrompt> {
  const prompts = new Map<string, SeedPrompt>()
  const problems: string[] = []
  for (const file of files) {
    const seed = parseSeed(file)
    if (typeof seed === 'string') problems.push(seed)
    else if (prompts.has(seed.name)) problems.push(`Duplicate qualified name '${seed.name}' in ${file.path}`)
    else prompts.set(seed.name, seed.prompt)
  }
  if (problems.length > 0) throw new SeedError(problems.join('\n'))
  return prompts
}

/** Reads one prompt, or returns the text of the problem in its file. */
function parseSeed({ path, text }: SeedFile): { name: string; prompt: SeedPrompt } | string {
  const [scopeName, typeName, fileName = '', ...deeper] = path.split('/')
  if (fileName === '' || deeper.length > 0) return `Invalid prompt path ${path}; must be <scope>/<type>/<name>.yaml`
  const scope = PROMPT_SCOPES.find((known) => known === scopeName)
  if (scope === undefined)
    return `Invalid prompt scope '${scopeName}' in ${path}; must be one of ${PROMPT_SCOPES.join(', ')}`
  const type = PROMPT_TYPES.find((known) => known === typeName)
  if (type === undefined)
    return `Invalid prompt type '${typeName}' in ${path}; must be one of ${PROMPT_TYPES.join(', ')}`
  const name = fileName.replace(/\.yaml$/, '')
  if (!NAME.test(name)) return `Invalid prompt name '${name}' in ${path}; must match ^[a-z0-9_]+$`
  if (name.startsWith('_'))
    return `Invalid prompt name '${name}' in ${path}; must match ^[a-z0-9_]+$ and not start with _`
  const prompt = parseContent(text)
  return typeof prompt === 'string'
    ? `Invalid prompt file ${path}; ${prompt}`
    : // The parts contain no hyphen, so the name is unambiguous.
      { name: `${scope}-${type}-${name}`, prompt }
}

function parseContent(text: string): SeedPrompt | string {
  try {
    return v.parse(content, parse(text, { logLevel: 'error' }))
  } catch (error) {
    return v.isValiError(error)
      ? 'it needs a non-empty string body and, if any, a string description'
      : 'it is not valid YAML'
  }
}
