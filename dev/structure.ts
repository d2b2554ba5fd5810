import { resolve } from 'node:path'
import { PROJECT_ROOT } from './stack/data-folder.ts'
import { compareWithAims } from './structure/aims.ts'
import { HELP, readOptions, type StructureOptions, UsageError } from './structure/options.ts'
import { describe, findFailures } from './structure/report.ts'
import { ROOMS } from './structure/rooms.ts'
import { listFiles, survey } from './structure/survey.ts'
import { readTable } from './structure/table.ts'
import { writeTable } from './structure/written.ts'

async function run(options: StructureOptions): Promise<number> {
  const root = options.root === null ? PROJECT_ROOT : resolve(options.root)
  if (options.write) {
    const files = await listFiles(root, ROOMS)
    await writeTable(root, readTable(ROOMS, files))
  }
  const result = await survey(root, options.root === null ? ROOMS : null)
  const failures = findFailures(result)
  if (options.json) {
    const { parts, graph, sizes, borders } = result
    const { edges, roomCycles, fileCycles } = graph
    const figures = compareWithAims(result)
    console.log(JSON.stringify({ parts, edges, roomCycles, fileCycles, figures, sizes, borders, failures }))
  } else for (const line of describe(result, options.all)) console.log(line)
  return failures.length === 0 ? 0 : 1
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options) process.exitCode = await run(options)
  else console.log(HELP)
} catch (error) {
  const text = error instanceof Error ? error.message : String(error)
  console.error(
    error instanceof UsageError
      ? `${text}\nnpm run structure -- --help lists the options.`
      : `The structure could not be measured: ${text}`,
  )
  process.exitCode = 2
}
