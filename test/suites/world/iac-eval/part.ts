import { dirname, join } from 'node:path'
import { installMoto, MOTO } from '../aws/moto.ts'
import { installAwsProvider, PROVIDER } from '../aws/provider.ts'
import { type Part, type Tools, Unavailable } from '../part.ts'
import { output } from '../tools/command.ts'
import { buildGo } from '../tools/go.ts'
import { withLock } from '../tools/lock.ts'
import { SMALL } from '../tools/pinned-providers.ts'
import { installProvider, type Provider } from '../tools/providers.ts'

const OPA = '1.22.2'
/** What is published of IaC-Eval: the templates of its authors, and the data set in folders. A variable names a copy. */
const TEMPLATES = {
  name: 'iac-eval',
  repository: process.env.WORLD_IAC_EVAL_REPOSITORY || 'https://github.com/autoiac-project/iac-eval',
  commit: 'b75a90b32a9733b17b12cf82535121793cb228e5',
}
const DATA_SET = {
  name: 'iac-eval-data-set',
  repository: process.env.WORLD_IAC_EVAL_DATA_REPOSITORY || 'https://github.com/YicunDuanUMich/iac_dataset',
  commit: 'bdeaa0ce7aef19b2f770beef0f4425a54e2d9f62',
}
/** Providers beside that of AWS which the solutions of the data set use. */
const FURTHER = [SMALL.archive, SMALL.random].filter((provider): provider is Provider => provider !== undefined)

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
    const leftOut: string[] = []
    /** Null, with its name among what is left out, where it cannot be had. */
    const optional = (what: string, install: () => Promise<string>): Promise<string | null> =>
      install().catch((error: unknown) => {
        if (!(error instanceof Unavailable)) throw error
        tools.say(`skipped: ${what} (${error.message})`)
        leftOut.push(what)
        return null
      })
    for (const provider of FURTHER)
      await optional(`the provider ${provider.name}`, () => installProvider(provider, tools))
    const moto = await optional('the emulator of look-ups', () => installMoto(tools))
    const templates = await optional('the published templates', () => clone(TEMPLATES, tools))
    const data = process.env.WORLD_IAC_EVAL_DATA || (await optional('the data set', () => clone(DATA_SET, tools)))
    const without = leftOut.length > 0 ? `; without ${leftOut.join(', ')}` : ''
    const version = `OPA ${OPA}, provider ${PROVIDER}${note}, moto ${MOTO}${without}`
    return {
      version,
      env: {
        PATH: [dirname(opa), moto, process.env.PATH].filter((folder) => folder !== null).join(':'),
        WORLD_MIRROR: mirror,
        WORLD_AWS_MIRROR: mirror,
        WORLD_MOTO: moto ?? '',
        WORLD_IAC_EVAL: templates ?? '',
        WORLD_IAC_EVAL_DATA: data ?? '',
        WORLD_IAC_EVAL_COUNTERPART: version,
        WORLD_IAC_EVAL_VERDICTS: join(tools.cache, 'iac-eval-verdicts.jsonl'),
      },
    }
  },
}

/** @returns the folder of a repository at its commit, in the cache. Errors: `Unavailable` */
async function clone({ name, repository, commit }: typeof DATA_SET, { cache }: Tools): Promise<string> {
  const folder = join(cache, `${name}-${commit.slice(0, 12)}`)
  const head = () => output('git', ['-C', folder, 'rev-parse', 'HEAD']).catch(() => '')
  return withLock(cache, name, async () => {
    if ((await head()).startsWith(commit)) return folder
    try {
      await output('rm', ['-rf', folder])
      await output('git', ['clone', '--quiet', repository, folder])
      await output('git', ['-C', folder, 'checkout', '--quiet', commit])
      return folder
    } catch (error) {
      await output('rm', ['-rf', folder])
      throw error
    }
  })
}
