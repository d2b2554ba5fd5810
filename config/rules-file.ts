import { parseYaml, type ReadFile, systemCode } from './document.ts'
import { isMapping, type Source } from './source.ts'

const FIELD = 'orchestration.rules_file'
const GRADES = ['off', 'info', 'warning', 'error', 'critical'] as const
/** The severity of a rule, or `off`. */
type RuleGrade = (typeof GRADES)[number]
/** The operator's grades by rule id. A rule that is not listed keeps its own severity. */
export type RuleGrades = Readonly<Record<string, RuleGrade>>
/** Returns the ids of all rules, which are loaded only when they are needed. */
export type ReadRuleIds = () => Promise<readonly string[]>

const isGrade = (value: unknown): value is RuleGrade => GRADES.some((grade) => grade === value)

/**
 * Reads the operator's grades from the file that `orchestration.rules_file` names: `rules: {<id>: <grade>}`. A key
 * `<prefix>.*` matches all ids with that prefix; of two matching keys the longer one wins: `aws.iam.*` before `aws.*`.
 * Problems are reported to `source`, and the result is then incomplete.
 * @param readRuleIds returns the ids of all rules; called only when there is a file
 */
export async function readRulesFile(
  source: Source,
  path: string,
  readFile: ReadFile,
  readRuleIds: ReadRuleIds,
): Promise<RuleGrades> {
  if (path === '') return {}
  let text: string | null
  try {
    text = await readFile(path)
  } catch (error) {
    source.problem(`${FIELD} names a file that cannot be read${systemCode(error)}`)
    return {}
  }
  if (text === null) {
    source.problem(`${FIELD} names a file that does not exist`)
    return {}
  }
  return parseGrades(text, await readRuleIds(), (problem) => source.problem(`${FIELD}: ${problem}`))
}

function parseGrades(text: string, known: readonly string[], report: (problem: string) => void): RuleGrades {
  const rules = parseRules(text, report)
  // Shorter patterns first, so that longer ones and ids override them.
  const keys = Object.keys(rules).toSorted((a, b) => patternDepth(a) - patternDepth(b))
  const grades: Record<string, RuleGrade> = {}
  for (const key of keys) {
    const grade = rules[key]
    const ids = known.filter((id) => (key.endsWith('.*') ? id.startsWith(key.slice(0, -1)) : id === key))
    if (ids.length === 0) report(`unknown rule ${quoteKey(key)}`)
    if (!isGrade(grade)) report(`rule ${quoteKey(key)} must be one of ${GRADES.join(', ')}`)
    else for (const id of ids) grades[id] = grade
  }
  return grades
}

const patternDepth = (key: string) => (key.endsWith('.*') ? key.split('.').length - 1 : Number.MAX_SAFE_INTEGER)

/** Quotes a key of the file for an error text and cuts it after 80 characters, because it may be anything. */
const quoteKey = (key: string) => JSON.stringify(key.length > 80 ? `${key.slice(0, 80)}…` : key)

function parseRules(text: string, report: (problem: string) => void): Record<string, unknown> {
  const { value, error } = parseYaml(text)
  if (error !== null) report(`not valid YAML: ${error}`)
  if (value === null) return {}
  const unknown = isMapping(value) ? Object.keys(value).filter((key) => key !== 'rules') : []
  for (const key of unknown) report(`unknown key ${quoteKey(key)}; the file holds one mapping, rules`)
  const rules = isMapping(value) ? (value.rules ?? {}) : undefined
  if (isMapping(rules)) return rules
  report('must hold a mapping `rules` from rule ids to severities')
  return {}
}
