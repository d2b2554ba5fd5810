import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { generateAndValidate } from '../../../../pipeline/steps/generator/generate-and-validate.ts'
import { readSchemas } from '../../../../pipeline/steps/generator/generator-dialogue.ts'
import { EnvironmentFailure, ValidationLoopExceeded } from '../../../../pipeline/steps/generator/validation.ts'
import { createPlanValidator } from '../../../../pipeline/steps/plan/validators.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { writeImportQuery } from '../../../../src/chains/iac-generator.ts'
import type { EngineDiagnostic, IacClient } from '../../../../src/services/iac/contract.ts'
import { useFolder } from '../../../helpers/folder.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { versionsOf } from '../../../plan/code/versions.ts'
import { type Reply, said } from '../scripted-llm.ts'
import { calmEngine, createSteps, type EngineScript, type StepWorld, schemaDouble } from '../support.ts'

const steps = startOnce(createSteps)
const folder = useFolder()
beforeAll(async () => {
  await writeFile(
    join(folder.path, 'main.tf'),
    'one\ntwo\nresource "aws_s3_bucket" "logs" {\n  nope = 1\n}\nsix\nseven\n',
  )
  await writeFile(join(folder.path, 'backend_override.tf'), 'secret_key = "x"\n')
})

const done = { args: { status: 'done', summary: 'Done.' } }
const STDERR =
  '\nError: Unsupported argument\n\n  on main.tf line 4, in resource "aws_s3_bucket" "logs":\n' +
  '   4:   nope = 1\n\nAn argument named "nope" is not expected here.\n'
/** Refuses the first runs of a kind of job. */
const refusing =
  (times: number, kind: string, stderr: string): EngineScript =>
  (job, number) =>
    job.kind === kind && number <= times ? { exit_code: 1, stdout: '', stderr } : calmEngine()(job, number)
const refusingOnce = (kind: string, stderr: string) => refusing(1, kind, stderr)
const taskOf = (world: StepWorld, query = 'Add a bucket') => ({
  query,
  prompt: `Please: ${query}`,
  operation: 'generate' as const,
  conventions: { templates: ['Use `aws_kms_key` with `aws_unknown_thing`.'], abbreviations: [] },
  forbid: false,
  maxAttempts: 3,
  validate: createPlanValidator(world.kit, async () => []),
})
const generate = (world: StepWorld) => generateAndValidate(world.kit, taskOf(world))
/** Returns the text between the fences of a prompt's findings. */
const findingsOf = (prompt: string) => /<<<DATA findings \w+\n([\s\S]*?)DATA>>>/.exec(prompt)?.[1] ?? ''
const kinds = ({ jobs }: StepWorld) => jobs.map(({ kind }) => kind)
/** Returns the request with which a world's generator is told to repair for the first time. */
const repair = ({ llm }: StepWorld) => llm.of('task_complete')[1]
const repairText = (w: StepWorld) => repair(w)?.messages.at(-1)?.content ?? ''

const attributes = (name: string) => ({ block: { attributes: { [name]: { type: 'string', required: true } } } })
const TYPES: Record<string, unknown> = {
  aws_s3_bucket: attributes('bucket'),
  aws_kms_key: attributes('policy'),
  aws_other: attributes('other'),
}

const world = async (options: NonNullable<Parameters<typeof steps.world>[0]>) => {
  const made = await steps.world({ scripts: { task_complete: done }, ...options })
  // A repair that changes nothing is sent back to its findings, as the test of the loop shows.
  const pendingChanges = async () => [{ path: 'main.tf', new_file: false, content: 'x' }]
  Object.assign(made.workspace, { iacRoot: folder.path, clone: folder.path, pendingChanges })
  return made
}

describe('a repair', () => {
  it('is told findings with code once, without warnings and without the output they come from', async () => {
    const warning = '\nWarning: Deprecated Parameter\n\n  on backend_override.tf line 1:\n\nUse another one.\n'
    const w = await world({ engine: refusingOnce('validate', warning + STDERR + STDERR) })
    await generate(w)
    const text = repairText(w)
    expect(text).toMatch(
      /<<<DATA findings (\w+)\n1\. Unsupported argument\nmain\.tf:4, in resource "aws_s3_bucket" "logs"\n[^<]*\n> {3}4: {3}nope = 1\n/,
    )
    expect(text).toContain('    3: resource "aws_s3_bucket" "logs" {')
    expect(text.split('is not expected here')).toHaveLength(2)
    expect(text).not.toMatch(/Warning|Deprecated|DATA output/)
  })

  it('is told the machine form where it is offered, after a failed validation only', async () => {
    const asked: string[] = []
    const entry: EngineDiagnostic = {
      severity: 'error',
      summary: 'From the machine',
      detail: '',
      range: { filename: `${folder.path}/main.tf`, start: { line: 4 } },
    }
    const diagnostics: IacClient['diagnostics'] = async ({ workspace_path }) => {
      asked.push(workspace_path)
      return [entry]
    }
    const w = await world({ engine: refusingOnce('validate', STDERR), additions: { diagnostics } })
    await generate(w)
    expect(asked).toEqual([folder.path])
    expect(said(repair(w))).toContain('From the machine\\nmain.tf:4')
    const planned = await world({ engine: refusingOnce('plan', STDERR), additions: { diagnostics } })
    await generate(planned)
    expect(asked).toHaveLength(1)
    expect(said(repair(planned))).toContain('1. Unsupported argument')
  })

  it.each<[string, IacClient['diagnostics']]>([
    ['nothing', async () => null],
    ['an empty list', async () => []],
    ['warnings only', async () => [{ severity: 'warning', summary: 'w', detail: '' }]],
  ])('uses the text when the machine form is %s', async (_, diagnostics) => {
    const w = await world({ engine: refusingOnce('validate', STDERR), additions: { diagnostics } })
    await generate(w)
    expect(said(repair(w))).toContain('1. Unsupported argument')
  })

  it('quotes neither the override nor files outside of the root', async () => {
    const hidden =
      '\nError: Invalid backend\n\n  on backend_override.tf line 1, in terraform:\n   1: secret_key = "x"\n\n' +
      'Error: Away\n\n  on ../../etc/passwd line 1:\n   1: quoted by the engine\n'
    const w = await world({ engine: refusingOnce('validate', hidden) })
    await generate(w)
    const findings = findingsOf(repairText(w))
    expect(findings).toContain('backend_override.tf:1')
    expect(findings).not.toContain('secret_key')
    expect(findings).not.toContain('root:')
  })

  const SECRET: EngineDiagnostic = {
    severity: 'error',
    summary: 'Unsupported argument',
    detail: 'An argument named "Sup3r-Secret" is not expected here.',
    range: { filename: 'main.tf', start: { line: 4 } },
  }
  it.each<[string, IacClient['diagnostics']]>([
    ['the words of the engine', async () => null],
    ['the machine form', async () => [SECRET]],
  ])('masks what is secret in the findings from %s', async (_, diagnostics) => {
    const words = STDERR.replace('"nope" is not', '"Sup3r-Secret" is not')
    const w = await world({ engine: refusingOnce('validate', words), additions: { diagnostics } })
    w.kit.secrets.add(['Sup3r-Secret'])
    // Runs without the client that masks every message again: the step masks its own texts.
    w.kit.llm = w.llm
    await generate(w)
    const text = repairText(w)
    const masked = `An argument named "${MASK}" is not expected here.`
    expect(findingsOf(text)).toContain(masked)
    expect(text.split(masked)).toHaveLength(2)
    expect(said(repair(w))).not.toContain('Sup3r-Secret')
  })

  it('has no findings where the engine said nothing of a known form', async () => {
    const warning = '╷\n│ Warning: Old backend\n│ \n│ Mend it.\n╵\n'
    const w = await world({ engine: refusingOnce('validate', `${warning}odd words`) })
    await generate(w)
    const text = repairText(w)
    expect(text).not.toContain('DATA findings')
    expect(text).toContain('odd words')
    expect(text).not.toContain('Old backend')
    const nothingElse = await world({ engine: refusingOnce('validate', warning) })
    await generate(nothingElse)
    expect(said(repair(nothingElse))).toContain('Old backend')
  })
})

describe('a fault of the environment', () => {
  const CREDENTIALS = 'Error: No valid credential sources found\n\nPlease see the documentation of Sup3r-Secret.\n'

  it.each(['init', 'plan'])('ends the loop after the first attempt: %s', async (kind) => {
    const w = await world({ engine: refusing(Number.POSITIVE_INFINITY, kind, CREDENTIALS) })
    w.kit.secrets.add(['Sup3r-Secret'])
    const error = await generate(w).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(EnvironmentFailure)
    expect(error).toBeInstanceOf(ValidationLoopExceeded)
    const message = /^No change of the code can mend this\. The engine has no valid credentials/
    expect(error).toMatchObject({ status: 422, message: expect.stringMatching(message) })
    expect(String(error)).not.toContain('Sup3r-Secret')
    expect(w.llm.of('task_complete')).toHaveLength(1)
  })

  it.each([
    [
      'the session touched the provider',
      async () => versionsOf({}, { 'main.tf': 'provider "aws" {\n  profile = "none"\n}\n' }),
    ],
    ['nothing tells what the session touched', () => Promise.reject(new Error('git is gone'))],
  ])('does not, when %s', async (_, versions) => {
    const w = await world({ engine: refusingOnce('plan', CREDENTIALS) })
    w.workspace.versions = versions
    await generate(w)
    expect(w.llm.of('task_complete')).toHaveLength(2)
  })
})

const looking = (...types: string[]): Reply => ({ calls: [['resource_schema', { types }]] })
const NO_TYPES = {
  resource_schemas: {},
  data_source_schemas: {},
  resource_types: [],
  data_source_types: [],
  ephemeral_resource_schemas: {},
  ephemeral_types: [],
}

describe('provider schemas', () => {
  it('are told from the first init on, for the types in play, with a tool for others', async () => {
    const service = schemaDouble(TYPES)
    const w = await world({ engine: refusingOnce('validate', STDERR), additions: { schema: service.schema } })
    await generate(w)
    const [first, second] = w.llm.of('task_complete')
    expect(said(first)).not.toContain('provider schema')
    expect(first?.tools?.map(({ name }) => name)).toContain('resource_schema')
    const text = second?.messages.at(-1)?.content ?? ''
    expect(text).toMatch(/<<<DATA provider schema \w+\nresource "aws_s3_bucket" [^\n]*\n {2}bucket: string, required\n/)
    expect(text).toContain('resource "aws_kms_key"')
    expect(text).not.toContain('aws_other')
    expect(second?.tools).toEqual(first?.tools)
    expect(service.asked.flatMap(({ resource_types = [] }) => resource_types)).not.toContain('aws_unknown_thing')
    expect(kinds(w)).toEqual(['init', 'validate', 'validate', 'plan', 'show'])
  })

  it('are in the first call with the versions that are installed, for what the request names in words', async () => {
    const lock =
      'provider "registry.terraform.io/hashicorp/aws" {\n  version     = "5.73.0"\n  constraints = "~> 5.0"\n}\n' +
      'provider "registry.terraform.io/hashicorp/random" {\n  version = "3.7.2"\n}\n'
    await writeFile(join(folder.path, '.terraform.lock.hcl'), lock)
    const w = await world({
      engine: refusingOnce('validate', STDERR),
      additions: { schema: schemaDouble({ ...TYPES, aws_s3_object: attributes('key') }).schema },
    })
    w.kit.engine.initialised = true
    await generateAndValidate(w.kit, {
      ...taskOf(w, 'Add S3 objects'),
      conventions: { templates: ['# Key (`aws_kms_key`)\n\n- Not `aws_other`.'], abbreviations: [] },
    })
    await rm(join(folder.path, '.terraform.lock.hcl'))
    const [first, second] = w.llm.of('task_complete')
    const text = first?.messages.at(-1)?.content ?? ''
    expect(text).toMatch(
      /installed versions of the providers:\n<<<DATA providers (\w+)\n- hashicorp\/aws 5\.73\.0 \(allowed: ~> 5\.0\)\n- hashicorp\/random 3\.7\.2\n\1 DATA>>>/,
    )
    expect([...text.matchAll(/^resource "(\w+)" \(/gm)].map(([, type]) => type)).toEqual([
      'aws_s3_object',
      'aws_kms_key',
    ])
    expect(second?.messages.at(-1)?.content).not.toContain('DATA providers')
  })

  it('are in the first call of an import, for the kinds of the identifiers, which stand once', async () => {
    const service = schemaDouble({ aws_sqs_queue: attributes('name'), aws_sns_topic: attributes('name') })
    const w = await world({ additions: { schema: service.schema } })
    w.kit.engine.initialised = true
    const importIds = ['arn:aws:sqs:eu-central-1:123456789012:invoices']
    const prompt = writeImportQuery(importIds)
    await generateAndValidate(w.kit, { ...taskOf(w), operation: 'import', forbid: false, importIds, prompt })
    const [first] = w.llm.of('task_complete')
    expect(
      [...(first?.messages.at(-1)?.content ?? '').matchAll(/^resource "(\w+)" \(/gm)].map(([, type]) => type),
    ).toEqual(['aws_sqs_queue'])
    expect(said(first).split(importIds[0] ?? '')).toHaveLength(2)
  })

  it.each([
    [true, true],
    [false, false],
  ])('that are not locked are told as none only after an init: %s', async (initialised, told) => {
    const w = await world({})
    w.kit.engine.initialised = initialised
    await generate(w)
    expect(said(w.llm.of('task_complete')[0]).includes('The code uses no provider beside the built-in one')).toBe(told)
  })

  it('are shown once in a conversation', async () => {
    const service = schemaDouble(TYPES)
    const w = await world({ engine: refusing(2, 'validate', STDERR), additions: { schema: service.schema } })
    await generate(w)
    const third = said(w.llm.of('task_complete')[2])
    expect(third.split('resource \\"aws_kms_key\\" (')).toHaveLength(2)
  })

  it('are told not to be there yet, and can be looked up after the first init', async () => {
    const lookUp = looking('aws_other')
    const w = await world({
      engine: refusingOnce('validate', STDERR),
      additions: { schema: schemaDouble(TYPES).schema },
      scripts: { task_complete: [lookUp, done, lookUp, done] },
    })
    await generate(w)
    const answers = w.llm.of('task_complete').map(({ messages }) => messages.at(-1)?.content ?? '')
    expect(answers[1]).toMatch(/^The providers are not installed yet/)
    expect(answers[3]).toContain('resource "aws_other" (hashicorp/aws)')
  })

  it('that cannot be read are not asked for again before the next init', async () => {
    let asked = 0
    const schema: IacClient['schema'] = async () => {
      asked++
      return null
    }
    const w = await world({ engine: refusing(2, 'validate', STDERR), additions: { schema } })
    await generate(w)
    expect(w.llm.of('task_complete')).toHaveLength(3)
    expect(asked).toBe(1)
  })

  it('can be looked up, also by wrong names', async () => {
    const service = schemaDouble(TYPES)
    const lookUp = looking('aws_other', 'aws_s3_buckets')
    const w = await world({
      engine: refusingOnce('validate', STDERR),
      additions: { schema: service.schema },
      scripts: { task_complete: [done, lookUp, done] },
    })
    await generate(w)
    const answer = w.llm.of('task_complete')[2]?.messages.at(-1)
    expect(answer).toMatchObject({ role: 'tool' })
    expect(answer?.content).toContain('resource "aws_other" (hashicorp/aws)\n  other: string, required')
    const unknown = 'No provider of this repository has a type "aws_s3_buckets". Names like it: aws_s3_bucket'
    expect(answer?.content).toContain(unknown)
  })

  it.each<[string, IacClient['schema']]>([
    ['does not offer them', async () => null],
    ['fails', async () => Promise.reject(new Error('odd'))],
    [
      'answers names only once',
      (() => {
        let calls = 0
        return async () => (calls++ === 0 ? { providers: {}, missing: [], left_out: [] } : null)
      })(),
    ],
    [
      'answers schemas of no known form',
      async () => {
        const x = { ...NO_TYPES, resource_schemas: { aws_s3_bucket: 7 }, resource_types: ['aws_s3_bucket'] }
        return { providers: { x }, missing: [], left_out: [] }
      },
    ],
  ])('change nothing where the service %s', async (_, schema) => {
    const bare = await world({ engine: refusingOnce('validate', STDERR) })
    const w = await world({ engine: refusingOnce('validate', STDERR), additions: { schema } })
    await generate(bare)
    await generate(w)
    expect(kinds(w)).toEqual(kinds(bare))
    expect(said(repair(w))).not.toContain('DATA provider schema')
  })
})

const repository = useFolder()
beforeAll(async () => {
  await promisify(execFile)('git', ['init', '--quiet', repository.path])
  await writeFile(join(repository.path, 'main.tf'), 'resource "aws_used" "x" {}\nresource "aws_unrelated" "x" {}\n')
})

const arn = { block: { attributes: { arn: { type: 'string', computed: true } } } }
const { schema } = schemaDouble({ aws_used: arn, aws_unrelated: arn, aws_new: arn, aws_asked: arn, aws_other: arn })

/** Returns the types whose schemas are reported after one initialisation of the engine. */
async function told(inPlay: { query?: string; templates?: string[] }, added = ''): Promise<string[]> {
  const { kit, workspace } = await steps.world({ additions: { schema } })
  Object.assign(workspace, {
    iacRoot: repository.path,
    clone: repository.path,
    gitDirectory: join(repository.path, '.git'),
    versions: async () => versionsOf({}, { 'a.tf': added }),
  })
  kit.engine.initialised = true
  const { query = 'Do it', templates = [] } = inPlay
  const text = await readSchemas(kit, { query, request: query, templates })
  return [...(text ?? '').matchAll(/^resource "(\w+)"/gm)].map(([, type = '']) => type)
}

describe('the schemas that the generator is told', () => {
  it('are those of the request, the session and the chosen templates', async () => {
    const templates = ['Use `aws_new`.']
    expect(await told({ query: 'Add an aws_asked', templates }, 'resource "aws_other" "x" {}\n')).toEqual([
      'aws_asked',
      'aws_other',
      'aws_new',
    ])
  })

  it('leave out what the code shows in use', async () => {
    expect(await told({})).toEqual([])
    expect(await told({ templates: ['`aws_used` with `aws_new`'] }, 'resource "aws_unrelated" "x" {}\n')).toEqual([
      'aws_new',
    ])
  })

  it('hold it when the engine complains about it', async () => {
    expect(await told({ query: 'Error: Unsupported argument\n  on main.tf, in resource "aws_used" "x":' })).toEqual([
      'aws_used',
    ])
  })
})

it.each([
  ['linode', 'resource "linode_instance" "web" {}\n', 'The code uses the providers linode and none of aws', false],
  ['of no cloud', 'resource "random_pet" "name" {}\n', null, false],
  ['of both', 'resource "linode_instance" "web" {}\nresource "aws_s3_bucket" "logs" {}\n', null, true],
  ['not known', 'resource "linode_instance" "web" {}\nmodule "x" {\n  source = "git::https://x/y"\n}\n', null, true],
])('the generator is told what the providers of the code call for when they are %s', async (_, code, text, forbids) => {
  const clone = folder.path
  await promisify(execFile)('git', ['init', '--quiet', clone])
  await writeFile(join(clone, 'main.tf'), code)
  const made = await world({ scripts: { task_complete: done } })
  Object.assign(made.workspace, { gitDirectory: join(clone, '.git') })
  const { conventions, ...task } = taskOf(made)
  await generateAndValidate(made.kit, { ...task, forbid: true, conventions: { ...conventions, concernsCloud: false } })
  const system = made.llm.of('task_complete')[0]?.messages[0]?.content ?? ''
  expect(system).toContain('Write only')
  expect(system.includes('body of aws-guidelines-forbidden_actions')).toBe(forbids)
  if (text === null) expect(system).not.toContain('The code uses the providers')
  else expect(system).toContain(text)
})
