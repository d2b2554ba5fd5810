import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { said, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { textsOf } from './artifacts.ts'
import { ADDED, done, GATES, goodRound, MAIN, type Scripts, SETTINGS, targets, write } from './scripts.ts'
import {
  engineBeside,
  type RoundOptions,
  runFirst,
  runGenerate,
  type SessionRequest,
  type SessionView,
  startStack,
} from './stack.ts'

const stack = startOnce(startStack)

/** The service under test may run either engine; what these rounds say depends on its name alone. */
const terraform = (): RoundOptions => ({
  iac: { ...stack.context(scriptedLlm({})).iac, engine: async () => ({ name: 'Terraform', version: '1.11.4' }) },
})

const PROVIDED = 'provider "aws" {}\nresource "terraform_data" "record" {}\n'

describe('a root that the engine cannot work on', () => {
  it.each([
    ['Terragrunt', { 'terragrunt.hcl': 'terraform {\n  source = "git::https://example.com/x.git"\n}\n' }],
    ['Pulumi', { 'Pulumi.yaml': 'name: app\nruntime: nodejs\n', 'index.ts': 'export {}\n' }],
    ['Helm', { 'Chart.yaml': 'apiVersion: v2\nname: app\nversion: 0.1.0\n', 'templates/app.yaml': 'kind: Pod\n' }],
    ['CDK for Terraform', { 'cdktf.json': '{"language":"typescript","app":"npx ts-node main.ts"}', 'main.ts': '' }],
    ['Terraform Stacks', { 'main.tfstack.hcl': 'component "a" {\n  source = "./a"\n}\n' }],
  ])('is refused by name before a model is asked: %s', async (name, files) => {
    const all = { ...files, 'README.md': '# App\n', 'live/dns/main.tf': PROVIDED }
    const { llm, session } = await runGenerate(stack, {}, { ...terraform(), request: { files: all } })
    expect(session.statuses).toEqual(['started', 'failed'])
    const message = session.messages.at(-1) ?? ''
    const [file = ''] = Object.keys(files)
    expect(message).toContain(
      `The repository's root holds code of ${name} (\`${file}\`) and no code that Terraform loads`,
    )
    expect(message).toContain('Begin a session with a root module of this repository as `iac_path`: `live/dns`.')
    expect(llm.requests).toEqual([])
  })

  it('is refused with `.tofu` files that Terraform would leave out, also beside `.tf` files', async () => {
    const files = { 'main.tf': MAIN, 'dns.tofu': ADDED, 'versions.tofu': 'terraform {}\n' }
    const { llm, session } = await runGenerate(stack, {}, { ...terraform(), request: { files } })
    expect(session.messages.at(-1)).toMatch(
      /^runner failed: The repository's root holds code for OpenTofu \(`dns.tofu`\), which Terraform does not load/,
    )
    expect(llm.requests).toEqual([])
  })

  it('is refused for drift and import as well', async () => {
    const request = { files: { 'live/Pulumi.yaml': 'name: app\n' }, iac_path: 'live' }
    for (const mode of ['drift', 'import'] as const) {
      const { llm, session } = await runFirst(stack, goodRound(), { request: { ...request, mode } })
      expect(session.messages.at(-1)).toContain('The folder `live` holds code of Pulumi (`Pulumi.yaml`)')
      expect(llm.requests).toEqual([])
    }
  })

  it('is refused without `iac_path` when it is empty and the code is elsewhere, and taken when it is meant', async () => {
    const files = { 'README.md': '# DNS\n', 'terraform/dns/main.tf': PROVIDED }
    const refused = await runGenerate(stack, {}, { ...terraform(), request: { files } })
    expect(refused.session.messages.at(-1)).toBe(
      "runner failed: The repository's root holds no code that Terraform loads. Begin a session with a root module of " +
        "this repository as `iac_path`: `terraform/dns`. To build in the repository's root itself, give `.` as " +
        '`iac_path`.',
    )
    expect(refused.llm.requests).toEqual([])
    const meant = await runGenerate(stack, {}, { request: { files, iac_path: '.' } })
    expect(meant.session.statuses.at(-1)).toBe('completed')
  })
})

it('builds in a repository with a README alone, and beside a chart of an application', async () => {
  const files = { 'README.md': '# New\n', 'chart/Chart.yaml': 'name: app\n' }
  const { session } = await runGenerate(stack, {}, { request: { files } })
  expect(session.statuses.at(-1)).toBe('completed')
})

/** Runs a round whose author answers so, and in which the whole root is planned. */
const round = (task_complete: Scripts[string], request: SessionRequest, max_validation_iteration?: number) =>
  runGenerate(
    stack,
    { task_complete, generate_engine_targets: targets() },
    { request, orchestration: { ...GATES, ...(max_validation_iteration && { max_validation_iteration }) } },
  )

const summaryOf = async ({ uuid }: SessionView): Promise<string> =>
  JSON.parse((await textsOf(stack, uuid, 'report')).at(-1) ?? '').potential_impact.summary

const STATUS = 'resource "terraform_data" "status" {\n  input = var.not_declared\n}\n'

describe('code that nothing loads', () => {
  it('goes back to its author, and fails the round when it stays', async () => {
    const { llm, session } = await round(
      [write('terraform/dns/status.tf', STATUS), done('Added.'), done('It is there.')],
      { files: { 'main.tf': MAIN } },
    )
    expect(session.statuses.at(-1)).toBe('failed')
    expect(session.messages.at(-1)).toBe(
      "runner failed: Nothing was planned: the engine loads the repository's root and the modules that it calls, and " +
        'none of them loads the changed `terraform/dns/status.tf`.',
    )
    expect(said(llm.of('task_complete').at(-1))).toContain(
      JSON.stringify('or call its folder as a module (`source = "./terraform/dns"`)').slice(1, -1),
    )
    expect(await textsOf(stack, session.uuid, 'report')).toEqual([])
  })

  it('ends the loop at the third time, with each attempt refused', async () => {
    const { session } = await round(
      [write('terraform/dns/status.tf', STATUS), done('Added.'), done('It is there.'), done('Really.')],
      { files: { 'main.tf': MAIN } },
      5,
    )
    expect(session.messages.at(-1)).toMatch(/^runner failed: Nothing was planned/)
    expect(session.messages.at(-2)).toMatch(/^The same failure came 3 times, so that no further attempt is made\./)
    const attempts = await stack.database.sql<{ outcome: string }[]>`
      SELECT a.outcome FROM round_attempts a JOIN rounds r ON r.id = a.round_id JOIN sessions s ON s.id = r.session_id
      WHERE s.uuid = ${session.uuid} ORDER BY a.number`
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'refused'])
  })

  it('is validated and planned once it is called as a module', async () => {
    const called = 'module "dns" {\n  source = "./terraform/dns"\n}\n'
    const { llm, session } = await round(
      [write('terraform/dns/status.tf', ADDED), done('Added.'), write('dns.tf', called), done('Called.')],
      { files: { 'main.tf': MAIN } },
    )
    expect(session.statuses.at(-1)).toBe('completed')
    expect(llm.of('task_complete')).toHaveLength(4)
    expect((await textsOf(stack, session.uuid, 'plan'))[0]).toContain('module.dns.terraform_data.second')
  })

  it('is refused in the folder of another root, which is named', async () => {
    const files = { 'live/main.tf': MAIN, 'live/dev/main.tf': PROVIDED }
    const { session } = await round([write('status/main.tf', STATUS), write('dev/status.tf', STATUS), done('Added.')], {
      files,
      iac_path: 'live',
    })
    expect(session.messages.at(-1)).toBe(
      'runner failed: Nothing was planned: the engine loads `live` and the modules that it calls, and none of them ' +
        'loads the changed `live/status/main.tf`, `live/dev/status.tf`. For code of another root, begin a session with that ' +
        'root as `iac_path`: `live/dev`.',
    )
  })

  it('of another root beside a change of this one is what the report begins with', async () => {
    const files = { 'main.tf': MAIN, 'dev/main.tf': PROVIDED }
    const { session } = await round(
      [write('second.tf', ADDED), write('dev/main.tf', `${PROVIDED}${STATUS}`), done('Both.')],
      {
        files,
      },
    )
    expect(session.statuses.at(-1)).toBe('completed')
    const sentence = 'Changed, but not planned, since this root does not load it: `dev/main.tf`.'
    expect(await summaryOf(session)).toSatisfy((text: string) => text.startsWith(sentence))
    expect(session.history.at(-1)?.assistant).toBe(`${sentence}\n\nBoth.`)
  })
})

it('takes changes of a module in a subfolder, and code that calls a module outside of the root', async () => {
  const files = {
    'live/prod/main.tf': 'module "own" {\n  source = "./own"\n}\nmodule "shared" {\n  source = "../../modules/x"\n}\n',
    'live/prod/own/main.tf': MAIN,
    'modules/x/main.tf': MAIN,
  }
  const { llm, session } = await round([write('own/second.tf', SETTINGS + ADDED), done('Added.')], {
    files,
    iac_path: 'live/prod',
  })
  expect(session.statuses.at(-1)).toBe('completed')
  expect(llm.of('task_complete')).toHaveLength(2)
  expect((await textsOf(stack, session.uuid, 'plan'))[0]).toMatch(
    /module\.own\.terraform_data\.second[\s\S]*module\.shared/,
  )
})

describe('a round that changes code and nothing in the plan', () => {
  const FILES = {
    'main.tf': MAIN,
    'variables.tf': 'variable "unused" {\n  default = 1\n}\n',
    'prod.tfvars': 'unused = 2\n',
  }
  it.each([
    [
      'a comment',
      'main.tf',
      `# Says hello.\n${MAIN}`,
      '`main.tf` differs in comments, layout or the order of blocks only',
    ],
    [
      'values of another environment',
      'prod.tfvars',
      'unused = 3\n',
      '`prod.tfvars` holds values of another environment, which this plan does not have',
    ],
    [
      'a resource without instances',
      'second.tf',
      ADDED.replace('{', '{\n  count = 0\n'),
      '`terraform_data.second` has no instances, as its `count` or `for_each` says',
    ],
  ])('says why: %s', async (_, path, text, why) => {
    const repo_uri = await stack.repository(FILES)
    await (await engineBeside(stack, repo_uri)).apply()
    const { llm, session } = await round([write(path, text), done('Changed.')], { repo_uri })
    expect(session.statuses.at(-1)).toBe('completed')
    const sentence = `The code changed, and the plan changes nothing: ${why}.`
    expect(await summaryOf(session)).toSatisfy((told: string) => told.startsWith(sentence))
    const [check = ''] = await textsOf(stack, session.uuid, 'check')
    expect(JSON.parse(check)).toMatchObject({
      passed: true,
      violations: [],
      summary: expect.stringMatching(
        /^The plan changes no resource, so that there was no change to check\. Code checked \d+ rules: no findings\.$/,
      ),
    })
    expect(llm.of('report_compliance_findings')).toEqual([])
    expect(session.history.at(-1)?.assistant).toBe(`${sentence}\n\nChanged.`)
  })
})

it('claims no agreement of code and infrastructure where there is neither', async () => {
  const request = { files: { 'README.md': '# New\n' }, mode: 'drift' as const }
  const report_drift = { args: { summary: 'All is well.', status: 'Succeeded' } }
  const { session } = await runFirst(stack, goodRound({ generate_engine_drift_report: report_drift }), { request })
  expect(session.statuses.at(-1)).toBe('completed')
  const nothing = 'Nothing was compared: neither the code of this root nor its state has a resource.'
  expect(session.messages).toContain(nothing)
  expect(JSON.parse((await textsOf(stack, session.uuid, 'report'))[0] ?? '').summary).toBe(nothing)
})
