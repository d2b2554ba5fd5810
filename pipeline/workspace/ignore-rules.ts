import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/types.ts'
import type { Logger } from '../../src/base/log.ts'

/** Working files of the engine and secrets. Variable and lock files are left in: they belong to the change. */
const RULES = [
  '.terraform/',
  '*.tfstate',
  '*.tfstate.*',
  'crash.log',
  'crash.*.log',
  'override.tf',
  'override.tf.json',
  '*_override.tf',
  '*_override.tf.json',
  '.terraformrc',
  'terraform.rc',
  '*_key_file.pem',
  '*.sh',
  'plan*.txt',
  '*.plan',
]

/**
 * Keeps engine files out of every commit of this clone without touching the work tree, so that no
 * change of ours enters a pull request. A failure is only a warning.
 */
export async function writeIgnoreRules(clone: string, paths: Config['paths'], log: Logger): Promise<void> {
  const rules = [...RULES, paths.backend_override_filename, paths.session_plan_filename]
  try {
    await mkdir(join(clone, '.git', 'info'), { recursive: true })
    await appendFile(join(clone, '.git', 'info', 'exclude'), `${rules.join('\n')}\n`)
  } catch (error) {
    log.warn('ignore rules were not written', { reason: error })
  }
}
