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
async function judge(files: RepositoryFile[], around: Partial<RepositorySurvey> = {}) {
  const { kit, llm } = await steps.world({ scripts: { requests_filter: { args: { status: true, explanation: '' } } } })
  kit.secrets.add(['secret-of-the-readme'])
  const seen = { ...survey(files), ...around }
  const looking = { ...kit, survey: { look: async () => seen, files: async () => files } }
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

it.each([
  ['a block', [file('main.tf', 'resource "a" "b" {}\n')], {}],
  ['code that declares nothing', [file('main.tf', '# later\n')], {}],
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
