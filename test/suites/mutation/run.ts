import { onInterrupt } from '../../../dev/command.ts'
import { PROJECT_ROOT } from '../../../dev/stack/data-folder.ts'
import { measure, summaryOf } from './measure.ts'
import { HELP, type MutationOptions, readOptions, UsageError } from './options.ts'

async function run(options: MutationOptions): Promise<void> {
  // Copies and runs of tests go with the process.
  onInterrupt(() => process.exit(130))
  const measured = await measure(PROJECT_ROOT, options, console.error)
  for (const line of summaryOf(measured)) console.log(line)
  if (options.json) console.log(JSON.stringify(measured))
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options) await run(options)
  else console.log(HELP)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
