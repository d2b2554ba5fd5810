import { type Reply, type Script, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'

/** Answers of a model, by the tool that ends the chain. */
export type Scripts = Record<string, Script | Script[]>

/** Answers of a well-behaved model in a generate round over `terraform_data`. */

export const MAIN = 'resource "terraform_data" "greeting" {\n  input = "hello"\n}\n'
/** The value of that output. */
export const PASSWORD = 'value-that-nobody-may-see'
/** The state of an applied `MAIN`, made by an older engine, with a sensitive output. */
export const STATE = JSON.stringify({
  version: 4,
  terraform_version: '1.6.0',
  serial: 7,
  lineage: '0f7a1c2b-3d4e-4f5a-8b6c-7d8e9f0a1b2c',
  outputs: { password: { value: PASSWORD, type: 'string', sensitive: true } },
  resources: [
    {
      ...{ mode: 'managed', type: 'terraform_data', name: 'greeting' },
      provider: 'provider["terraform.io/builtin/terraform"]',
      instances: [
        {
          schema_version: 0,
          attributes: {
            id: '7c1d0a9e-0000-4000-8000-000000000001',
            input: { value: 'hello', type: 'string' },
            output: { value: 'hello', type: 'string' },
            triggers_replace: null,
          },
          sensitive_attributes: [],
        },
      ],
    },
  ],
  check_results: null,
})
export const ADDED = 'resource "terraform_data" "second" {\n  input = "hello again"\n}\n'
/** Settings of the engine: which addresses a change of them affects, code cannot tell, so that a model is asked. */
export const SETTINGS = 'terraform {\n  required_version = ">= 1.0"\n}\n'
/** The second greeting with an argument that does not exist. */
export const BROKEN = ADDED.replace('input', 'no_such_argument')
/** The second greeting as `statesThrice` has it. */
export const THRICE = ADDED.replace('hello again', 'hello hello hello')

export const accept = { args: { status: true, explanation: 'Acceptable.' } }
export const decline = (explanation: string): Reply => ({ args: { status: false, explanation } })
const nothingToCompose = { args: { templates: [], abbreviations: [] } }
export const write = (target_file: string, content: string): Reply => ({
  calls: [['write_to_file', { target_file, content }]],
})
export const done = (summary: string): Reply => ({ args: { status: 'done', summary } })
export const targets = (...list: string[]): Reply => ({ args: { targets: list, explanation: '' } })
export const operations = (list: string[], explanation = ''): Reply => ({ args: { operations: list, explanation } })
export const report = (level = 'low', introduction = 'Free.'): Reply => ({
  args: {
    summary: { create: 99, update: 99, delete: 99, recreate: 99 },
    detailed_changes: [{ name: 'terraform_data.second', action: 'delete', summary: 'A second greeting.' }],
    potential_impact: { banner: { level, title: 'Small change', description: 'One more greeting.' } },
    estimated_costs: { introduction_paragraph: introduction },
  },
})
export const findings = (...severities: string[]): Reply => ({
  args: {
    violations: severities.map((severity) => ({ rule_id: 'scope_exceeded', severity, message: 'More than asked.' })),
    summary: 'Audited.',
    checked_rules: ['scope_exceeded'],
  },
})

/** Reads from the request that a greeting says hello three times, which `ADDED` does not meet, and `more`. */
export const statesThrice = (...more: object[]): Reply => {
  const attribute = { kind: 'attribute', type: 'terraform_data', path: 'input', op: 'eq', value: 'hello hello hello' }
  return { args: { statements: [{ ...attribute, text: 'It says hello three times', words: 'thrice' }, ...more] } }
}

/** Answers of a round that adds a third greeting after the second one. */
export const THIRD: Scripts = {
  task_complete: [write('third.tf', ADDED.replace('second', 'third')), done('Added a third greeting.')],
  generate_engine_targets: targets('terraform_data.second', 'terraform_data.third'),
}

/** The tool that returns a list of operations: of the splitter, the exception filter and the import filter. */
export const SPLIT = 'report_decomposed_task_operations'

/** Makes a round that adds one file and finds no foreign drift. */
export const goodRound = (changes: Scripts = {}): Scripts => ({
  status: { text: 'One sentence.' },
  requests_filter: accept,
  construct_information: nothingToCompose,
  task_complete: [write('second.tf', ADDED), done('Added a second greeting.')],
  generate_engine_targets: targets('terraform_data.second'),
  [SPLIT]: [operations(['Remove terraform_data.second']), operations([])],
  generate_engine_plan_report: report(),
  report_compliance_findings: findings(),
  ...changes,
})
export const goodLlm = (changes: Scripts = {}) => scriptedLlm(goodRound(changes))
export const splits = (...replies: Reply[]) => ({ [SPLIT]: replies })

export const GATES = { enable_compliance_checker: true, block_on_high_impact: true }
