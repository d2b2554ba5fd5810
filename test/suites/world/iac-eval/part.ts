import { dirname, join } from 'node:path'
import { installAwsProvider, PROVIDER } from '../aws/provider.ts'
import type { Part } from '../part.ts'
import { output } from '../tools/command.ts'
import { buildGo } from '../tools/go.ts'
import { withLock } from '../tools/lock.ts'

const OPA = '1.22.2'
const REPOSITORY = 'https://github.com/autoiac-project/iac-eval'
const COMMIT = 'b75a90b32a9733b17b12cf82535121793cb228e5'

export const part: Part = {
  name: 'iac-eval',
  about: 'The evaluation, with reference configurations of IaC-Eval in place of what a model writes',
  ci: false,
  install: async (tools) => {
    const opa = await buildGo(
      {
        name: 'opa',
        version: OPA,
        source: { module: 'github.com/open-policy-agent/opa', version: `v${OPA}` },
        package: '.',
      },
      tools,
    )
    const { mirror, note } = await installAwsProvider(tools)
    const repository = await clone(tools.cache)
    const data = process.env.WORLD_IAC_EVAL_DATA ?? ''
    return {
      version: `OPA ${OPA}, provider ${PROVIDER}${note}, ${data ? 'the data set' : 'templates of the repository'}`,
      env: {
        PATH: `${dirname(opa)}:${process.env.PATH}`,
        WORLD_AWS_MIRROR: mirror,
        WORLD_IAC_EVAL: repository,
        WORLD_IAC_EVAL_DATA: data,
      },
    }
  },
}

/** Folder of the repository at that commit, in the cache. */
async function clone(cache: string): Promise<string> {
  const folder = join(cache, `iac-eval-${COMMIT.slice(0, 12)}`)
  const head = () => output('git', ['-C', folder, 'rev-parse', 'HEAD']).catch(() => '')
  return withLock(cache, 'iac-eval', async () => {
    if ((await head()).trim() === COMMIT) return folder
    await output('rm', ['-rf', folder])
    await output('git', ['clone', '--quiet', REPOSITORY, folder])
    await output('git', ['-C', folder, 'checkout', '--quiet', COMMIT])
    return folder
  })
}
