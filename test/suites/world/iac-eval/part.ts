import { dirname, join } from 'node:path'
import { installAwsProvider, PROVIDER } from '../aws/provider.ts'
import { type Part, type Tools, Unavailable } from '../part.ts'
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
    const repository = await clone(tools)
    const data = process.env.WORLD_IAC_EVAL_DATA ?? ''
    return {
      version: `OPA ${OPA}, provider ${PROVIDER}${note}, ${subject(repository, data)}`,
      env: {
        PATH: `${dirname(opa)}:${process.env.PATH}`,
        WORLD_MIRROR: mirror,
        WORLD_IAC_EVAL: repository,
        WORLD_IAC_EVAL_DATA: data,
      },
    }
  },
}

const subject = (repository: string, data: string) =>
  data ? 'the data set' : repository ? 'templates of the repository' : 'without the published templates (not reachable)'

/**
 * Folder of the repository at that commit, in the cache; empty where it cannot be had, since the evaluation's own
 * scenarios are judged all the same. `WORLD_IAC_EVAL_REPOSITORY` names a copy in its place, which is taken at the same
 * commit.
 */
async function clone({ cache, say }: Tools): Promise<string> {
  const folder = join(cache, `iac-eval-${COMMIT.slice(0, 12)}`)
  const head = () => output('git', ['-C', folder, 'rev-parse', 'HEAD']).catch(() => '')
  return withLock(cache, 'iac-eval', async () => {
    if ((await head()).trim() === COMMIT) return folder
    try {
      await output('rm', ['-rf', folder])
      await output('git', ['clone', '--quiet', process.env.WORLD_IAC_EVAL_REPOSITORY || REPOSITORY, folder])
      await output('git', ['-C', folder, 'checkout', '--quiet', COMMIT])
      return folder
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      say(`skipped: the published templates (${error.message})`)
      await output('rm', ['-rf', folder])
      return ''
    }
  })
}
