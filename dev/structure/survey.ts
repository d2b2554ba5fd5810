import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { findHomeless, findUnused, findViolations, type Violation } from './borders.ts'
import { buildGraph, type Graph } from './graph.ts'
import { measureParts, measureSizes, type Part, SIZED_AREAS, type Sizes } from './measure.ts'
import { parseFiles } from './parse.ts'
import type { Room } from './rooms.ts'
import { areaOf, pathsOf, readTable, roomByFolder } from './table.ts'
import { findOutOfStep } from './written.ts'

/** All that is known about the structure of a checkout. */
export interface Survey {
  parts: Part[]
  graph: Graph
  sizes: Sizes
  /** Null for a checkout that the table does not describe. */
  borders: Borders | null
}

export interface Borders {
  violations: Violation[]
  /** Mistakes of the table itself, files without a room, and files that are out of step with the table. */
  errors: string[]
  /** Rooms that a row names and nothing imports. */
  unused: { from: string; to: string }[]
}

/**
 * @param rooms the table; null for a checkout that it does not describe, where each folder is a room
 * @throws when there is no code, or when a file cannot be read
 */
export async function survey(root: string, rooms: readonly Room[] | null): Promise<Survey> {
  const paths = await listFiles(root, rooms)
  if (paths.length === 0) throw new Error(`there is no code in ${root}.`)
  const measured = paths.filter((path) => SIZED_AREAS.some((area) => area === areaOf(path)))
  const files = await parseFiles({ root, paths, measured })
  const table = rooms && readTable(rooms, paths)
  // A file that the table forgets still has its place in the graph.
  const roomOf = (path: string) => table?.roomOf(path) ?? roomByFolder(path)
  const graph = buildGraph(files, roomOf)
  return {
    parts: measureParts(files, graph, roomOf),
    graph,
    sizes: measureSizes(files, graph),
    borders: table && {
      violations: findViolations(files, table),
      errors: [...table.errors, ...findHomeless(paths, table), ...(await findOutOfStep(root, table))],
      unused: findUnused(files, table),
    },
  }
}

/** The TypeScript files below the folders of the table, sorted; without a table below every folder with code. */
export async function listFiles(root: string, rooms: readonly Room[] | null): Promise<string[]> {
  const areas = rooms ? new Set(rooms.flatMap(pathsOf).map(areaOf)) : AREAS
  const files = await Promise.all([...areas].map((area) => walk(root, area)))
  return files.flat().sort()
}

const AREAS = [
  'config',
  'src',
  'routes',
  'pipeline',
  'sidecars',
  'contracts',
  'console',
  'dev',
  'eval',
  'test',
  'bench',
]

async function walk(root: string, area: string): Promise<string[]> {
  const entries = await readdir(join(root, area), { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
}
