import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type Command, type Part, type Tools, Unavailable } from '../part.ts'
import { installOpenTofu } from '../tools/engine.ts'
import { SMALL } from '../tools/pinned-providers.ts'
import { installProvider } from '../tools/providers.ts'

/** The names of those that can be had here, and of those that cannot. */
async function install(tools: Tools): Promise<[there: string[], leftOut: string[]]> {
  const there: string[] = []
  const leftOut: string[] = []
  for (const [name, provider] of Object.entries(SMALL))
    try {
      await installProvider(provider, tools)
      there.push(name)
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      leftOut.push(name)
      tools.say(`left out: ${name}: ${error.message}`)
    }
  if (there.length === 0) throw new Unavailable(`none of ${leftOut.join(', ')} can be had here`)
  return [there, leftOut]
}

const ROUNDS: Command = {
  title: 'rounds',
  kind: 'vitest',
  args: ['--project', 'world'],
  env: { WORLD_PART: 'providers' },
}

/**
 * Tasks of the evaluation that need nothing in the repository: the demo plays them on its sample and applies the
 * reviewed plan.
 */
const DEMOS = [
  'tls/certificate-for-tests',
  'local/configuration-file',
  'time/rotation-of-a-key',
  'null/step-that-runs-again',
]
const SCENARIOS = join(import.meta.dirname, '../../../../eval/scenarios')

async function demo(task: string, { cache, folder }: Tools): Promise<Command> {
  const { request } = parse(await readFile(join(SCENARIOS, `${task}.yaml`), 'utf8')) as { request: string }
  return {
    title: `the demo: ${task}`,
    kind: 'node',
    args: [
      'dev/demo.ts',
      '--embedded',
      '--mode',
      'apply',
      '--data',
      join(folder, task.replace('/', '-')),
      '--request',
      request,
    ],
    // The sidecar writes a configuration of its own for the mirror.
    env: { IAC_PROVIDER_MIRROR: join(cache, 'providers'), TF_CLI_CONFIG_FILE: '' },
  }
}

export const part: Part = {
  name: 'providers',
  about: 'small providers from a mirror: a plan with secrets of their own, by the sidecar that may download nothing',
  ci: true,
  install: async (tools) => {
    const engine = await installOpenTofu(tools)
    const [there, leftOut] = await install(tools)
    const demos = DEMOS.filter((task) => there.includes(task.split('/')[0] ?? ''))
    return {
      version:
        there.map((name) => `${name} ${SMALL[name]?.version}`).join(', ') +
        (leftOut.length > 0 ? `; without ${leftOut.join(', ')}` : ''),
      env: {
        PATH: `${engine}:${process.env.PATH}`,
        WORLD_MIRROR: join(tools.cache, 'providers'),
        WORLD_PROVIDERS: there.join(','),
      },
      commands: [
        ROUNDS,
        ...(await Promise.all(demos.slice(0, tools.ci ? 1 : undefined).map((task) => demo(task, tools)))),
      ],
    }
  },
}
