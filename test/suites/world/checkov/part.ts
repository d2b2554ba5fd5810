import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { type Part, type Tools, Unavailable } from '../part.ts'
import { output } from '../tools/command.ts'
import { withLock } from '../tools/lock.ts'
import { installPython } from '../tools/python.ts'

const CHECKOV = '3.3.30'
/** Its examples are not in the package. A variable names the address of a copy, or a folder with one. */
const REPOSITORY = process.env.WORLD_CHECKOV_REPOSITORY || 'https://github.com/bridgecrewio/checkov'

export const part: Part = {
  name: 'checkov',
  about: "the rules beside Checkov's catalogue, and both on its own good and bad examples",
  ci: false,
  install: async (tools) => {
    const python = join(await installPython(`checkov-${CHECKOV}`, [`checkov==${CHECKOV}`], tools), 'python')
    const examples = await findExamples(tools).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) throw error
      tools.say(`without the examples: ${error.message}`)
      return ''
    })
    return {
      version: `Checkov ${CHECKOV}${examples === '' ? '; without its examples' : ''}`,
      env: { WORLD_CHECKOV_PYTHON: python, WORLD_CHECKOV_EXAMPLES: examples },
    }
  },
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
