import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { PROJECT_ROOT } from './stack/data-folder.ts'
import { findCycle, readImports } from './structure/imports.ts'
import { ROOMS } from './structure/rooms.ts'
import { pathsOf, readTable, type Table, writeRooms } from './structure/table.ts'

const HELP = `Prints the rooms of dev/structure/rooms.ts with their lines and files. Fails on an import that the table forbids, on a
cycle of files, on a file without a room, and when the table in AGENTS.md differs.

Usage: npm run structure [-- --write]

  --write  first writes the table in AGENTS.md

Exit codes: 0 in order, 1 it is not, 2 it could not be read.`

/** Reads the TypeScript files below the folders of the table: their texts by path. */
async function readFiles(): Promise<Map<string, string>> {
  const areas = new Set(ROOMS.flatMap(pathsOf).map((path) => path.split('/', 1)[0] ?? path))
  const listed = await Promise.all(
    [...areas].map(async (area) => {
      const names = await readdir(join(PROJECT_ROOT, area), { recursive: true })
      return names.map((name) => `${area}/${name}`)
    }),
  )
  const paths = listed.flat().filter((path) => /\.tsx?$/.test(path) && !/\/(node_modules|dist)\//.test(path))
  const texts = paths
    .sort()
    .map(async (path): Promise<[string, string]> => [path, await readFile(join(PROJECT_ROOT, path), 'utf8')])
  return new Map(await Promise.all(texts))
}

/** Finds faults in the imports of the files and in the table, as sentences. */
function findFaults(texts: ReadonlyMap<string, string>, table: Table): string[] {
  const imports = new Map([...texts].map(([path, text]) => [path, readImports(path, text)]))
  const refused = [...imports].flatMap(([path, found]) =>
    found.flatMap(({ target, line }) => {
      const room = table.roomOf(path)
      const reason = room && table.refuse(room, path, target)
      return reason ? [`${path}:${line} imports ${target}: ${reason}`] : []
    }),
  )
  const graph = new Map([...imports].map(([path, found]) => [path, found.map(({ target }) => target)]))
  const cycle = findCycle(graph)
  return [...table.errors, ...refused, ...(cycle ? [`A cycle: ${cycle.join(' imports ')}.`] : [])]
}

function printRooms(texts: ReadonlyMap<string, string>, table: Table): void {
  const files = [...texts].map(([path, text]) => ({ room: table.roomOf(path), lines: text.split('\n').length - 1 }))
  const byRoom = Map.groupBy(files, ({ room }) => room?.name ?? 'no room')
  console.log(`  lines  files  room`)
  for (const [name, held] of [...byRoom, ['together', files] as const]) {
    const lines = held.reduce((sum, file) => sum + file.lines, 0)
    console.log(`${String(lines).padStart(7)}${String(held.length).padStart(7)}  ${name}`)
  }
}

async function run(write: boolean): Promise<number> {
  const page = join(PROJECT_ROOT, 'AGENTS.md')
  const before = await readFile(page, 'utf8')
  const after = writeRooms(before, ROOMS)
  if (write) await writeFile(page, after)
  const texts = await readFiles()
  const table = readTable(ROOMS, [...texts.keys()])
  printRooms(texts, table)
  const faults = findFaults(texts, table)
  if (!write && before !== after) faults.push('The table in AGENTS.md differs: run npm run structure -- --write.')
  for (const fault of faults) console.error(fault)
  return faults.length === 0 ? 0 : 1
}

try {
  const { values } = parseArgs({ options: { write: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } })
  if (values.help) console.log(HELP)
  else process.exitCode = await run(values.write ?? false)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
