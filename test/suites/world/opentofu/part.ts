import { delimiter } from 'node:path'
import { engineOnPath } from '../../../helpers/engine.ts'
import type { Command, Part } from '../part.ts'
import { output } from '../tools/command.ts'
import { installOpenTofu } from '../tools/engine.ts'

const OWN: Command = {
  title: 'what differs',
  kind: 'vitest',
  args: ['--project', 'world'],
  env: { WORLD_PART: 'opentofu' },
}

/** Those of the ordinary tests that run an engine, short enough for continuous integration. */
const SHORT: Command = {
  title: 'tests that run an engine',
  kind: 'vitest',
  args: [
    ...['--project', 'code', '--project', 'rounds'],
    ...['apply', 'drift', 'gates', 'generate', 'import'].map((mode) => `test/suites/modes/${mode}.test.ts`),
    'test/services/iac/end-to-end.test.ts',
    'test/dev/object-store/engine-backend.test.ts',
    'test/dev/scripted-model',
    'test/plan/state/managed-state.test.ts',
    'test/sidecars/iac/schema/job.test.ts',
    'test/sidecars/iac/jobs/execute.test.ts',
    'test/sidecars/iac/jobs/format.test.ts',
  ],
}

const WHOLE: Command[] = [
  { title: 'npm test', kind: 'vitest', args: ['--project', 'code', '--project', 'rounds'] },
  { title: 'npm run test:modes', kind: 'vitest', args: ['--project', 'modes'] },
]

const DEMO: Command = { title: 'every mode of the demo', kind: 'node', args: ['dev/demo.ts', '--mode', 'all'] }

/** The newest OpenTofu in the place of Terraform. */
export const part: Part = {
  name: 'opentofu',
  about: 'the newest OpenTofu as the engine of all tests, of every mode and of the demo',
  ci: true,
  async install(tools) {
    const folder = await installOpenTofu(tools)
    const [version = 'OpenTofu'] = /^OpenTofu \S+/m.exec(await output(`${folder}/tofu`, ['version'])) ?? []
    const demo: Command = { ...DEMO, args: [...DEMO.args, '--data', tools.folder, '--embedded'] }
    // The short form has the checks that the ordinary tests do not make, where those run this engine anyway.
    const usual = await output(await engineOnPath(), ['version']).catch(() => '')
    const short = usual.startsWith(`${version}\n`) ? [OWN] : [OWN, SHORT, demo]
    return {
      version: version.replace(' v', ' '),
      env: { PATH: [folder, process.env.PATH].join(delimiter), IAC_BINARY: '' },
      commands: tools.ci ? short : [OWN, ...WHOLE, demo],
    }
  },
}
