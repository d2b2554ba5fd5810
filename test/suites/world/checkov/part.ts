import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { installMoto } from '../aws/moto.ts'
import { installAwsProvider } from '../aws/provider.ts'
import { type Part, type Tools, Unavailable } from '../part.ts'
import { output } from '../tools/command.ts'
import { withLock } from '../tools/lock.ts'
import { SMALL } from '../tools/pinned-providers.ts'
import { installProvider } from '../tools/providers.ts'
import { installPython } from '../tools/python.ts'

const CHECKOV = '3.3.30'
/** Its examples are not in the package. A variable names the address of a copy, or a folder with one. */
const REPOSITORY = process.env.WORLD_CHECKOV_REPOSITORY || 'https://github.com/bridgecrewio/checkov'
/** A folder with checkouts of public modules for AWS, `<owner>/terraform-aws-<name>`; docs/world.md says which. */
const MODULES = process.env.WORLD_MODULES ?? ''

export const part: Part = {
  name: 'checkov',
  about: "the rules beside Checkov's catalogue, and both on its own examples and on plans of public modules",
  ci: false,
  install: async (tools) => {
    const python = join(await installPython(`checkov-${CHECKOV}`, [`checkov==${CHECKOV}`], tools), 'python')
    const examples = await findExamples(tools).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) throw error
      tools.say(`without the examples: ${error.message}`)
      return ''
    })
    const without = [...(examples === '' ? ['its examples'] : []), ...(MODULES === '' ? ['public modules'] : [])]
    return {
      version: `Checkov ${CHECKOV}${without.length > 0 ? `; without ${without.join(' and ')}` : ''}`,
      env: {
        WORLD_CHECKOV_PYTHON: python,
        WORLD_CHECKOV_EXAMPLES: examples,
        ...(MODULES !== '' && (await installEngineOfModules(tools))),
      },
    }
  },
}

/** What plans examples of modules for AWS. Errors: `Unavailable` */
async function installEngineOfModules(tools: Tools): Promise<Record<string, string>> {
  const moto = await installMoto(tools)
  const { mirror } = await installAwsProvider(tools)
  const { cloudflare: _, ...small } = SMALL
  for (const provider of Object.values(small))
    await installProvider(provider, tools).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) throw error
      tools.say(`without the provider ${provider.name}: ${error.message}`)
    })
  return { WORLD_MOTO: moto, WORLD_AWS_MIRROR: mirror, WORLD_MODULES: MODULES }
}

/** @returns a folder with the tests of Checkov of this version. Errors: `Unavailable` */
async function findExamples({ cache }: Tools): Promise<string> {
  const given = process.env.WORLD_CHECKOV_EXAMPLES
  if (given) return given
  const folder = join(cache, `checkov-${CHECKOV}-source`)
  return withLock(cache, 'checkov-source', async () => {
    if (
      await access(join(folder, 'tests')).then(
        () => true,
        () => false,
      )
    )
      return folder
    await output('rm', ['-rf', folder])
    await output('git', ['clone', '--quiet', '--depth=1', `--branch=${CHECKOV}`, REPOSITORY, folder])
    return folder
  })
}
