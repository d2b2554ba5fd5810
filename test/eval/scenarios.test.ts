import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../dev/command.ts'
import { findFalseRules, loadIacEval, readCsv } from '../../eval/iac-eval.ts'
import { readOptions } from '../../eval/options.ts'
import { findUnmet, type Outcome } from '../../eval/scenario/expectations.ts'
import {
  hashOf,
  loadScenarios,
  MODES,
  readScenario,
  ScenarioError,
  SMALL_PROVIDERS,
} from '../../eval/scenario/scenario.ts'
import { isLiteralSecret, isSecretName } from '../../src/base/secret-forms.ts'
import { CLOUDS } from '../../src/base/vocabulary.ts'
import { temporaryFolder } from '../helpers/folder.ts'
import { planOf } from '../plan/fixtures.ts'

const folder = temporaryFolder()

describe('the shipped scenarios', () => {
  it('all load, cover modes and clouds, and run mostly without a provider where they can', async () => {
    const all = await loadScenarios()
    expect(all.length).toBeGreaterThanOrEqual(40)
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
    expect(new Set(all.map(hashOf)).size).toBe(all.length)
    expect(new Set(all.map(({ mode }) => mode))).toEqual(new Set(MODES))
    expect(all.some(({ follow_up }) => follow_up.some((step) => 'apply' in step))).toBe(true)
    expect(all.filter(({ providers }) => providers.length === 0).length).toBeGreaterThanOrEqual(14)
    for (const cloud of CLOUDS)
      expect(all.filter(({ providers }) => providers.includes(cloud)).length).toBeGreaterThanOrEqual(3)
  })

  it('use each small provider in a group of its name, with its block in the repository', async () => {
    const all = await loadScenarios()
    for (const provider of SMALL_PROVIDERS) {
      const own = all.filter(({ providers }) => providers.includes(provider))
      expect([provider, own.length]).not.toEqual([provider, 0])
      for (const { name, repository } of own) {
        expect(name).toMatch(new RegExp(`^${provider}/`))
        const files = 'files' in repository ? repository.files : {}
        expect(files[`provider-${provider}.tf`]).toMatch(new RegExp(`source += "[a-z]+/${provider}"`))
      }
    }
  })

  it('have no provider block that the rules take for one with credentials', async () => {
    const place = new URL('../../eval/providers/', import.meta.url)
    const texts = await Promise.all((await readdir(place)).map((name) => readFile(new URL(name, place), 'utf8')))
    const literals = texts.flatMap((text) => [...text.matchAll(/^ *(\w+) *= *"(.*)"$/gm)])
    expect(literals.map(([, name]) => name)).toContain('access_token')
    const secrets = literals.filter(([, name = '', value = '']) => isSecretName(name) && isLiteralSecret(value))
    expect(secrets.map(([line]) => line.trim())).toEqual([])
  })

  it('check more than the status, and name a repository that exists', async () => {
    for (const { name, expect: wanted } of await loadScenarios()) {
      const { status: _, plan, reports, files, ...rest } = wanted
      expect([name, plan.length + reports.length + files.length + Object.keys(rest).length]).not.toEqual([name, 0])
    }
  })
})

describe('a scenario file', () => {
  const HEAD = 'cloud: aws\nrequest: a\nrepository: {sample: a}\n'
  it.each<[string, string, RegExp]>([
    ['an unknown field', `${HEAD}expects: {}\nexpect: {status: completed}`, /expects/],
    ['no expectation', HEAD, /expect/],
    ['an unknown cloud', 'cloud: ibm\nrequest: a\nrepository: {sample: a}\nexpect: {status: completed}', /cloud/],
    ['a statement of no kind', `${HEAD}expect: {status: completed, plan: [{kind: wishes}]}`, /statements\.0/],
    [
      'a file outside',
      'cloud: aws\nrequest: a\nrepository: {files: {../x: a}}\nexpect: {status: completed}',
      /inside the repository|repository/,
    ],
    ['no YAML', 'cloud: [', /bad\/one/],
  ])('with %s is refused by its name', async (what, text, message) => {
    const place = join(folder, what.replaceAll(' ', '-'))
    await mkdir(join(place, 'bad'), { recursive: true })
    await writeFile(join(place, 'bad', 'one.yaml'), text)
    const loading = loadScenarios(place)
    await expect(loading).rejects.toThrow(ScenarioError)
    await expect(loading).rejects.toThrow(message)
    await expect(loading).rejects.toThrow('bad/one')
  })
})

const moved = (actions: string[]) => ({
  address: 'terraform_data.new',
  previous_address: 'terraform_data.old',
  actions,
  before: null,
  after: {},
})
const outcome = (changes: Partial<Outcome>): Outcome => ({
  session: { current_status: 'completed', is_blocked: false, rounds: [] },
  collected: {
    drift: ['a.b', 'a.c'],
    reports: {
      drift: {
        summary: 'Two',
        status: 'Succeeded',
        remediated_resources: [],
        unreconciled_drift: [],
        whitelisted_exceptions: [],
      },
    },
  },
  plan: planOf([{ address: 'terraform_data.one', actions: ['create'], before: null, after: { input: 'x' } }]),
  file: async (path) => (path === 'main.tf' ? 'size = 3' : null),
  commented: null,
  unformatted: [],
  evidence: {
    turn: 'Kept 35 days.',
    findings: ['deletion.backup'],
    model_calls: 9,
    notes: ['A target was dropped.'],
    pull_request: 'Title\n\nRollback: none is safe.',
  },
  ...changes,
})

describe('files that differ in a number', () => {
  const document = (repeated: object) => ({
    cloud: 'aws',
    request: 'a',
    repository: { files: { 'part-002.tf': 'own' }, repeated: [repeated] },
    expect: { status: 'completed' },
  })
  it('are written out, and files with a text of their own win', () => {
    const { repository } = readScenario('t/t', document({ count: 3, path: 'part-{n}.tf', text: 'x = "{n}-{n}"' }))
    expect(repository).toEqual({
      files: { 'part-001.tf': 'x = "001-001"', 'part-002.tf': 'own', 'part-003.tf': 'x = "003-003"' },
    })
  })
  it.each([
    { count: 3, path: 'part.tf', text: 'x' },
    { count: 0, path: '{n}.tf', text: 'x' },
    { count: 1, path: '../{n}', text: 'x' },
  ])('%j are refused', (repeated) => {
    expect(() => readScenario('t/t', document(repeated))).toThrow(ScenarioError)
  })
})

const expectations = (expected: object) =>
  readScenario('t/t', {
    cloud: 'aws',
    request: 'a',
    repository: { sample: 'a' },
    expect: { status: 'completed', ...expected },
  }).expect
const STATE: Partial<Outcome> = {
  commented: [{ address: 'terraform_data.one', resource_id: 'arn:one' }],
  plan: planOf([], {
    prior_state: {
      values: {
        root_module: { resources: [{ address: 'terraform_data.one', mode: 'managed', values: { id: 'arn:one' } }] },
      },
    },
  }),
}
const MOVE = { moved: [{ from: '*.old', to: '*.new' }] }
const COUNT = { kind: 'resource_count', type: 'terraform_data', action: 'create', op: 'eq', value: 1 }

describe('expectations', () => {
  it.each<[string, object, Partial<Outcome>, RegExp | null]>([
    [
      'that hold',
      {
        drift: ['a.c', 'a.b'],
        plan: [COUNT],
        files: [{ path: 'main.tf', contains: '= 3' }],
        locked: false,
        code_changed: false,
      },
      {},
      null,
    ],
    ['of a report', { reports: [{ path: 'drift.status', op: 'eq', value: 'Succeeded' }] }, {}, null],
    [
      'of a report that is not there',
      { reports: [{ path: 'apply.status', op: 'eq', value: 'Success' }] },
      {},
      /^report apply\.status is \[\]/,
    ],
    ['of the status', { status: 'failed' }, {}, /^status is completed, not failed/],
    ['of the drift', { drift: ['a.b'] }, {}, /^the drift is a\.b, a\.c, not a\.b/],
    ['of the lock', { locked: true }, {}, /^the session is not locked/],
    ['of code', { code_changed: true }, {}, /^no code was changed/],
    ['of an empty plan', { plan_empty: true }, {}, /^a plan of the branch is not empty: create terraform_data\.one/],
    ['of a plan that is empty', { plan_empty: false }, { plan: planOf([]) }, /^a plan of the branch is empty/],
    ['of counts', { plan: [{ ...COUNT, value: 2 }] }, {}, /^unmet: .*1 terraform_data to create/],
    ['of what the plan cannot tell', { plan: [{ kind: 'output_exists', name: 'id' }] }, {}, /^unknown: /],
    [
      'of a plan that could not be made',
      { plan: [COUNT] },
      { plan: 'init failed: no' },
      /^there is no plan of the branch: init failed/,
    ],
    ['of a file', { files: [{ path: 'main.tf', lacks: '= 3' }] }, {}, /^main\.tf contains/],
    [
      'about the evidence that hold',
      {
        formatted: true,
        turn: [{ contains: 'nothing|35 DAYS', lacks: 'unchanged' }],
        audit_lacks: ['scope_*'],
        max_calls: 9,
        notes: [{ contains: 'dropped' }],
        pull_request: [{ contains: 'rollback' }],
      },
      {},
      null,
    ],
    ['of the format', { formatted: true }, { unformatted: ['main.tf'] }, /^not formatted: main\.tf/],
    ['of the format without a branch', { formatted: true }, { unformatted: null }, /^there is no branch/],
    ['of the last turn', { turn: [{ lacks: '7 days|35 days' }] }, {}, /^"7 days\|35 days" is in the last turn/],
    ['of findings', { audit_lacks: ['deletion*'] }, {}, /^the compliance check found deletion\.backup/],
    ['of calls', { max_calls: 8 }, {}, /^9 model calls, more than 8/],
    ['of notes', { notes: [{ contains: 'tfvars' }] }, {}, /^"tfvars" is not in the notes/],
    ['of a pull request', { pull_request: [{ lacks: 'rollback' }] }, {}, /^"rollback" is in the pull request/],
    ['of a move', MOVE, { plan: planOf([moved(['no-op']), moved(['update'])]) }, null],
    [
      'of a move that loses the object',
      MOVE,
      { plan: planOf([moved(['delete', 'create'])]) },
      /^terraform_data\.new is moved, and delete and create/,
    ],
    ['of a move that is none', MOVE, {}, /^the plan moves nothing/],
    ['of the state', { identified: 1 }, STATE, null],
    ['of more blocks', { identified: 2 }, STATE, /^1 blocks name an identifier, not 2/],
    [
      'of an object under the address of another',
      { identified: 1 },
      { ...STATE, commented: [{ address: 'terraform_data.one', resource_id: 'arn:two' }] },
      /^terraform_data\.one names arn:two, the state has arn:one/,
    ],
    ['of a file that is not there', { files: [{ path: 'x.tf', contains: 'a' }] }, {}, /^there is no file x\.tf/],
  ])('%s', async (_, expected, changes, message) => {
    const failures = await findUnmet(expectations(expected), outcome(changes))
    if (message === null) expect(failures).toEqual([])
    else expect(failures).toEqual([expect.stringMatching(message)])
  })
})

describe('cases of IaC-Eval', () => {
  it('come from CSV and JSONL with a request and a policy each', async () => {
    const place = join(folder, 'iac-eval')
    await mkdir(place)
    const policy = 'package p\n\ndefault ok := false\n\nok { input.x == "a,b" }'
    const quoted = `"${policy.replaceAll('"', '""')}"`
    await writeFile(
      join(place, 'data.csv'),
      `Resource,Prompt,Rego intent,Difficulty\r\naws_vpc,"Make a VPC, please",${quoted},1\r\naws_none,,${quoted},2\r\n`,
    )
    await writeFile(join(place, 'more.jsonl'), `${JSON.stringify({ Prompt: 'Make a queue', 'Rego intent': policy })}\n`)
    const cases = await loadIacEval(place, 'odd')
    expect(cases.map(({ name, request, rego }) => [name, request, rego])).toEqual([
      ['iac-eval/data-001', 'Make a VPC, please', policy],
      ['iac-eval/more-001', 'Make a queue', policy],
    ])
    expect(cases[0]).toMatchObject({ providers: ['aws'], cloud: 'aws' })
  })
  it('come from folders, of which those with even numbers are not opened unless they are wanted', async () => {
    const place = join(folder, 'iac-eval-folders')
    for (const [path, supplement] of [
      ['difficulty_03/case_175', true],
      ['difficulty_01/case_002', false],
    ] as const) {
      const of = join(place, path)
      await mkdir(join(of, 'supplement'), { recursive: true })
      await writeFile(join(of, 'prompt.txt'), `Do ${path}\n`)
      await writeFile(join(of, 'rego_intent.rego'), 'package p\n')
      await writeFile(join(of, 'main.tf'), 'resource "aws_vpc" "x" {}\n')
      if (supplement) await writeFile(join(of, 'supplement', 'app.zip'), Buffer.from([0x50, 0x4b, 0xff]))
    }
    await mkdir(join(place, 'difficulty_02/case_004/prompt.txt'), { recursive: true })
    const [only, ...others] = await loadIacEval(place, 'odd')
    expect(others).toEqual([])
    expect(only).toMatchObject({
      name: 'iac-eval/d3-case_175',
      request: 'Do difficulty_03/case_175',
      rego: 'package p',
      repository: { files: { 'provider-aws.tf': expect.stringMatching(/region += "us-east-1"/) } },
      supplement: { 'supplement/app.zip': 'UEv/' },
    })
    expect(JSON.stringify(only)).not.toContain('aws_vpc')
    await rm(join(place, 'difficulty_02'), { recursive: true })
    const all = await loadIacEval(place, 'all')
    expect(all.map(({ name }) => name)).toEqual(['iac-eval/d1-case_002', 'iac-eval/d3-case_175'])
    expect((await loadIacEval(place, 'even')).map(({ name }) => name)).toEqual(['iac-eval/d1-case_002'])
  })
  it('of a folder without any are refused', async () => {
    await expect(loadIacEval(join(folder, 'nothing'), 'all')).rejects.toThrow(/holds no case/)
  })
  it('are met when no rule is false', () => {
    const answer = (value: unknown) => JSON.stringify({ result: [{ expressions: [{ value }] }] })
    expect(findFalseRules(answer({ ok: true, names: ['a'] }), 'p.q')).toEqual([])
    expect(findFalseRules(answer({ ok: true, open: false }), 'p.q')).toEqual(['the policy is not met: p.q.open'])
    const collected = [{ type: 'aws_instance', change: { after: { get_password_data: false } } }]
    expect(findFalseRules(answer({ ok: true, aws_instances: collected }), 'p')).toEqual([])
    expect(findFalseRules('{}', 'p')).toEqual(['the policy has no result'])
  })
  it('read quoted fields as they are', () => {
    expect(readCsv('\uFEFFa,b\n"x ""y""\nz",\n')).toEqual([{ a: 'x "y"\nz', b: '' }])
  })
})

describe('options', () => {
  it('have defaults by what is measured', () => {
    expect(readOptions([])).toMatchObject({ samples: 1, k: 1, limitS: 900, max_cost: null, scripted: false })
    expect(readOptions(['--scripted', '--samples', '5'])).toMatchObject({ samples: 5, k: 5, limitS: 120 })
    expect(readOptions(['--help'])).toBeNull()
    expect(readOptions(['--iac-eval', 'data'])).toMatchObject({ iac_eval: { folder: 'data', cases: 'odd' } })
    expect(readOptions(['--emulate', 'aws'])).toMatchObject({ emulate: 'aws', iac_eval: null })
  })
  it.each([
    ['--samples', '0'],
    ['--k', '3'],
    ['--max-cost', 'much'],
    ['--nothing'],
    ['--iac-eval-cases', 'all'],
    ['--emulate', 'gcp'],
    ['--concurrency', '1.5'],
  ])('%s %s is refused', (...args) => {
    expect(() => readOptions(args)).toThrow(UsageError)
  })
})
