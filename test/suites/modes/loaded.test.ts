import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { ADDED, goodRound, MAIN } from './scripts.ts'
import { type RoundOptions, runFirst, runGenerate, startStack } from './stack.ts'

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
