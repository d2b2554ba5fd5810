import * as v from 'valibot'

export type Environment = Record<string, string | undefined>
type Section = v.ObjectSchema<v.ObjectEntries, undefined>

/** The configuration file and the environment, as the sections read them. Problems are collected and not thrown. */
export type Source = ReturnType<typeof createSource>

type Mapping = Record<string, unknown>
/** True if the value is a mapping of a YAML document: neither null nor a list. */
export const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @param files values of variables that files hold, instead of the environment */
export function createSource(document: Mapping, env: Environment, files: ReadonlyMap<string, string> = new Map()) {
  const problems: string[] = []
  const asked = new Set<string>()
  const problem = (text: string) => {
    if (!problems.includes(text)) problems.push(text)
  }
  const mapping = (path: string): Mapping => {
    let current = document
    let walked = ''
    for (const key of path === '' ? [] : path.split('.')) {
      walked = walked === '' ? key : `${walked}.${key}`
      const next = Object.hasOwn(current, key) ? current[key] : undefined
      if (next !== undefined && next !== null && !isMapping(next)) problem(`${walked} must be a mapping`)
      current = isMapping(next) ? next : {}
    }
    return current
  }
  const read = (name: string) => {
    asked.add(name)
    return files.get(name) ?? (Object.hasOwn(env, name) ? env[name] : undefined)
  }
  return {
    problems,
    problem,
    /** The variables that were read so far. */
    asked: asked as ReadonlySet<string>,
    /** Returns the trimmed value of an environment variable; empty when it is not set or the name is empty. */
    variable: (name: string): string => read(name)?.trim() ?? '',
    /** True if the variable is set, even to an empty text. */
    exists: (name: string): boolean => read(name) !== undefined,
    /**
     * Reads the section at a dotted path. Unknown keys are ignored, and an absent or empty section takes all defaults.
     * A field that breaks its rule is reported, listed in `failed` and takes its default.
     * @param aliases the current spelling for each older key
     */
    section<S extends Section>(
      path: string,
      schema: S,
      aliases: Record<string, string> = {},
    ): { values: v.InferOutput<S>; failed: ReadonlySet<string> } {
      const raw = applyAliases(mapping(path), aliases)
      const parsed = v.safeParse(schema, raw)
      if (parsed.success) return { values: parsed.output, failed: new Set() }
      const failed = new Set<string>()
      for (const issue of parsed.issues) {
        const at = v.getDotPath(issue) ?? ''
        failed.add(at.split('.')[0] ?? '')
        problem(`${path === '' ? at : `${path}.${at}`} ${issue.message}`)
      }
      const rest = Object.fromEntries(Object.entries(raw).filter(([key]) => !failed.has(key)))
      return { values: v.parse(schema, rest), failed }
    },
  }
}

function applyAliases(raw: Mapping, aliases: Record<string, string>): Mapping {
  const result = { ...raw }
  for (const [older, name] of Object.entries(aliases))
    if (Object.hasOwn(raw, older) && !Object.hasOwn(raw, name)) result[name] = raw[older]
  return result
}
