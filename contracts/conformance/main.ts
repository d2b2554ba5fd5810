import { readOptions, USAGE } from './options.ts'
import { humanReport } from './report.ts'
import { runConformance } from './run.ts'
import { UsageError } from './types.ts'

/** Runs `npm run conformance -- <contract> <url>` and returns the exit code. */
async function main(): Promise<number> {
  try {
    const read = await readOptions(process.argv.slice(2), process.env)
    if (!read) {
      console.log(USAGE)
      return 0
    }
    const outcome = await runConformance(read.options, process.stderr.isTTY ? showProgress : undefined)
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
    console.log(read.json ? JSON.stringify(outcome) : humanReport(outcome))
    return outcome.conformant ? 0 : 1
  } catch (error) {
    console.error(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : error)
    return 2
  }
}

const showProgress = (done: number, all: number, id: string) => process.stderr.write(`\r\u001b[K${done}/${all} ${id}`)

process.exitCode = await main()
