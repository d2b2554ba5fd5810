import { describe, expect, it } from 'vitest'
import { judgeRequest } from '../../../../pipeline/steps/shared/judge-request.ts'
import { MASK } from '../../../../src/base/masking.ts'
import type { RepositoryFile, RepositorySurvey } from '../../../../src/chains/shared/repository.ts'
import { file, survey } from '../../../chains/shared/repository-file.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { said } from '../scripted-llm.ts'
import { createSteps } from '../support.ts'

const steps = startOnce(createSteps)

/** Lets the filter judge a request on a repository, and returns its tools and what it was told. */
async function judge(files: RepositoryFile[], around: Partial<RepositorySurvey> = {}, number = 1) {
  const { kit, llm } = await steps.world({ scripts: { requests_filter: { args: { status: true, explanation: '' } } } })
  kit.secrets.add(['secret-of-the-readme'])
  const seen = { ...survey(files), ...around }
  const run = { ...kit.run, round: { ...kit.run.round, number } }
  const looking = { ...kit, run, survey: { look: async () => seen, files: async () => files } }
  await judgeRequest(looking, 'generate', Promise.resolve(''))
  const [request] = llm.of('requests_filter')
  return { tools: request?.tools?.map(({ name }) => name) ?? [], text: said(request) }
}

const NOTHING = 'The repository has no block of infrastructure code yet.'

describe('the filter on a repository without any block', () => {
  it.each([
    ['that is empty', []],
    ['with a description', [file('README.md', 'Written for secret-of-the-readme.'), file('logo.png', null)]],
    ['whose only file of code is blank', [file('main.tf', '\n')]],
  ])('%s has nothing to read and is told what there is', async (_, files) => {
    const { tools, text } = await judge(files, { elsewhere: { files: 1, code: 0 } })
    expect(tools).toEqual(['requests_filter'])
    expect(text).toContain(NOTHING)
    for (const { path } of files) expect(text).toContain(path)
    expect(text).not.toContain('Read files')
    expect(text).not.toContain('secret-of-the-readme')
  })

  it('is shown the description, masked', async () => {
    expect((await judge([file('README.md', 'Written for secret-of-the-readme.')])).text).toContain(
      `Written for ${MASK}.`,
    )
  })
})

describe('the filter on a repository with little code', () => {
  const code = 'resource "a" "b" {\n  text = "secret-of-the-readme"\n}\n'

  it('is shown all of it, masked, and has nothing to look up', async () => {
    const { tools, text } = await judge([file('main.tf', code), file('README.md', 'The shop.')])
    expect(tools).toEqual(['requests_filter'])
    expect(text).toContain(
      JSON.stringify(
        `--- main.tf ---\nresource "a" "b" {\n  text = "${MASK}"\n}\n\n--- README.md ---\nThe shop.\n`,
      ).slice(1, -1),
    )
    expect(text).not.toContain(NOTHING)
    expect(text).not.toContain('Read files')
  })

  it.each([
    ['the code is long', [file('main.tf', `${code}${'# note\n'.repeat(600)}`)], {}],
    ['some code was not read', [file('main.tf', code), file('more.tf', null)], {}],
    ['another file was not read', [file('main.tf', code), file('boot.sh', null)], {}],
    ['there is code outside of the root', [file('main.tf', code)], { elsewhere: { files: 3, code: 1 } }],
    ['a module could not be found', [file('main.tf', code)], { isWhole: false }],
  ])('may look up what it needs when %s', async (_, files, around) => {
    expect((await judge(files, around)).tools).toContain('read_file')
  })

  it('may look up what earlier rounds of the session changed', async () => {
    const { tools } = await judge([file('main.tf', code)], {}, 2)
    expect(tools).toContain('diff_history')
  })
})

it.each([
  ['code that was not read', [file('main.tf', null)], {}],
  ['values of variables', [file('prod.tfvars', null)], {}],
  ['code outside of the root', [], { elsewhere: { files: 3, code: 1 } }],
  ['more files than are listed', [], { beyondLimit: 1 }],
  ['files that could not be looked at', [], { isWhole: false }],
])('the filter may look up what it needs in a repository with %s', async (_, files, around) => {
  const { tools, text } = await judge(files, around)
  expect(tools).toContain('read_file')
  expect(text).not.toContain(NOTHING)
})
