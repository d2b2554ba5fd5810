import { describe, expect, test } from 'vitest'
import { runCheckConfig } from '../../config/check.ts'
import { ConfigError, loadConfig } from '../../config/load.ts'
import type { RuleGrades } from '../../config/types.ts'
import { readRuleIds } from '../../src/rules/ids.ts'
import { MINIMAL, yaml } from './support.ts'

const PATH = '/rules/operator.yaml'
/** Reads the two files of an operator. An error stands for an unreadable file. */
const files =
  (rules: string | null | Error, extra = '') =>
  async (path: string) => {
    if (path !== PATH) return `${yaml('orchestration.rules_file', PATH)}\n${extra}`
    if (rules instanceof Error) throw rules
    return rules
  }
const gradesOf = async (rules: string | null): Promise<RuleGrades> =>
  (await loadConfig(MINIMAL, files(rules), readRuleIds)).orchestration.rules
async function problemsOf(rules: string | null | Error, extra = ''): Promise<readonly string[]> {
  const error: unknown = await loadConfig(MINIMAL, files(rules, extra), readRuleIds).catch((reason: unknown) => reason)
  if (error instanceof ConfigError) return error.problems
  throw new Error('the rules were accepted')
}

describe('orchestration.rules_file', () => {
  test('is not needed', async () => {
    const read: string[] = []
    const { orchestration } = await loadConfig(MINIMAL, async (path) => {
      read.push(path)
      return null
    })
    expect(orchestration).toMatchObject({ rules_file: '', rules: {} })
    expect(read).toEqual(['/etc/platform/config.yaml'])
  })

  test('grades single rules', async () => {
    expect(await gradesOf('rules: {aws.network.open-admin-port: critical, oci.iam.any-user: off}')).toEqual({
      'aws.network.open-admin-port': 'critical',
      'oci.iam.any-user': 'off',
    })
  })

  test.each(['', 'rules:', 'rules: {}', '# nothing'])('may hold nothing: %j', async (text) => {
    expect(await gradesOf(text)).toEqual({})
  })

  test('grades all below a prefix, the longer key wins wherever it stands', async () => {
    const grades = await gradesOf('rules:\n  aws.iam.admin-policy: error\n  aws.iam.*: info\n  aws.*: off\n')
    const aws = (await readRuleIds()).filter((id) => id.startsWith('aws.'))
    expect(Object.keys(grades).toSorted()).toEqual(aws.toSorted())
    expect(grades['aws.iam.admin-policy']).toBe('error')
    expect(grades['aws.iam.access-key']).toBe('info')
    expect(grades['aws.network.open-all-ports']).toBe('off')
  })

  test.each<[string, string | null | Error, string[]]>([
    ['missing', null, ['orchestration.rules_file names a file that does not exist']],
    [
      'unreadable',
      Object.assign(new Error('no'), { code: 'EACCES' }),
      ['orchestration.rules_file names a file that cannot be read (EACCES)'],
    ],
    [
      'broken',
      'rules: [',
      [expect.stringMatching(/^orchestration\.rules_file: not valid YAML: [A-Z_]+ at line 1, column \d+$/)],
    ],
    ['a list', '- a', ['orchestration.rules_file: must hold a mapping `rules` from rule ids to severities']],
    [
      'rules that are a list',
      'rules: [a]',
      ['orchestration.rules_file: must hold a mapping `rules` from rule ids to severities'],
    ],
    [
      'another key',
      'rule: {aws.iam.admin-policy: off}',
      ['orchestration.rules_file: unknown key "rule"; the file holds one mapping, rules'],
    ],
    ['an alias that cannot be resolved', 'rules: *a', [expect.stringContaining('orchestration.rules_file: ')]],
    [
      'faults in the entries, all of them',
      'rules: {aws.iam.nothing: error, gpc.*: off, aws.iam.admin-policy: high, oci.iam.any-user: , aws.*: false, ' +
        '__proto__: off}',
      [
        'orchestration.rules_file: rule "aws.*" must be one of off, info, warning, error, critical',
        'orchestration.rules_file: unknown rule "gpc.*"',
        'orchestration.rules_file: unknown rule "aws.iam.nothing"',
        'orchestration.rules_file: rule "aws.iam.admin-policy" must be one of off, info, warning, error, critical',
        'orchestration.rules_file: rule "oci.iam.any-user" must be one of off, info, warning, error, critical',
      ],
    ],
  ])('%s', async (_, text, problems) => {
    expect(await problemsOf(text)).toEqual(expect.arrayContaining(problems))
  })

  test('is reported together with the rest', async () => {
    expect(await problemsOf('rules: {a: off}', 'worker: {concurrency: -1}')).toEqual([
      'orchestration.rules_file: unknown rule "a"',
      'worker.concurrency must be at least 0',
    ])
  })

  test('repeats no more than the beginning of a key, in one line', async () => {
    const [problem = ''] = await problemsOf(`rules: {? "x\\n${'y'.repeat(500)}" : off}`)
    expect(problem.length).toBeLessThan(150)
    expect(problem).not.toContain('\n')
  })

  test('is shown by --check-config, patterns resolved', async () => {
    const lines: string[] = []
    expect(
      await runCheckConfig(MINIMAL, files('rules: {oci.database.*: warning}'), (text) => lines.push(text), readRuleIds),
    ).toBe(0)
    expect(lines.join('')).toContain(`rules_file: ${PATH}\n  rules:\n    oci.database.open-access-list: warning\n`)
    expect(lines[0]).toBe('# configuration file found\n')
  })
})
