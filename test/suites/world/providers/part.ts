import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Command, Part, Tools } from '../part.ts'
import { installOpenTofu } from '../tools/engine.ts'
import { installProvider } from '../tools/providers.ts'

/** By name. They come from a registry, or are in the mirror already. */
const VERSIONS: Record<string, string> = {
  archive: '2.8.0',
  http: '3.6.0',
  local: '2.9.0',
  null: '3.3.1',
  random: '3.9.0',
  time: '0.14.0',
  tls: '4.2.1',
}

const ROUNDS: Command = {
  title: 'rounds',
  kind: 'vitest',
  args: ['--project', 'world'],
  env: { WORLD_PART: 'providers' },
}

/** Tasks of the evaluation that need nothing in the repository, so that the demo can play them on its sample. */
const DEMOS = ['tls/certificate-for-tests', 'null/step-that-runs-again', 'time/rotation-of-a-key']
const SCENARIOS = join(import.meta.dirname, '../../../../eval/scenarios')

async function demo(task: string, { cache, folder }: Tools): Promise<Command> {
  const { request } = parse(await readFile(join(SCENARIOS, `${task}.yaml`), 'utf8')) as { request: string }
  return {
    title: `the demo: ${task}`,
    kind: 'node',
    args: ['dev/demo.ts', '--embedded', '--data', join(folder, task.replace('/', '-')), '--request', request],
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
    for (const [name, version] of Object.entries(VERSIONS)) await installProvider({ name, version }, tools)
    return {
      version: Object.entries(VERSIONS)
        .map((each) => each.join(' '))
        .join(', '),
      env: { PATH: `${engine}:${process.env.PATH}`, WORLD_MIRROR: join(tools.cache, 'providers') },
      commands: [
        ROUNDS,
        ...(await Promise.all(DEMOS.slice(0, tools.ci ? 1 : undefined).map((task) => demo(task, tools)))),
      ],
    }
  },
}
