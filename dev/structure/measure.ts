import { posix } from 'node:path'
import type { Graph } from './graph.ts'
import type { ParsedFile } from './parse.ts'
import { areaOf } from './table.ts'

/** Where the sizes of files and functions have an aim. */
export const SIZED_AREAS = ['src', 'pipeline', 'sidecars'] as const

export const SMALL_FILE = 20
export const LARGE_FILE = 250
export const LARGE_FUNCTION = 60
export const LARGE_FOLDER = 15
/** One file for each endpoint, prompt and rule: such folders are as long as the lists they mirror. */
const FOLDERS_WITHOUT_LIMIT = ['routes/v1', 'src/prompts', 'src/rules']

export interface Part {
  name: string
  rooms: number
  /** Pairs of rooms of which one imports the other. */
  edges: number
  files: number
  /** Lines of a file. */
  median: number
  p95: number
  /** Files of at most `SMALL_FILE` lines. */
  small: number
  /** Files that exactly one other file imports; tests do not count. */
  oneImporter: number
}

export interface Sizes {
  largeFiles: { file: string; lines: number }[]
  largeFunctions: { file: string; line: number; name: string; lines: number }[]
  largeFolders: { folder: string; files: number }[]
  longLines: { file: string; line: number; columns: number }[]
  smallFiles: { file: string; lines: number }[]
  oneImporter: { file: string; importer: string }[]
}

/** The areas one by one, together, and the whole with everything else. */
export function measureParts(files: readonly ParsedFile[], graph: Graph, roomOf: (path: string) => string): Part[] {
  const parts: { name: string; areas: readonly string[] | null }[] = [
    ...SIZED_AREAS.map((area) => ({ name: area, areas: [area] })),
    { name: 'together', areas: SIZED_AREAS },
    { name: 'whole', areas: null },
  ]
  const single = new Set(findSingleImporters(files, graph).map(({ file }) => file))
  return parts.map(({ name, areas }) => {
    const isInside = (path: string) => areas === null || areas.includes(areaOf(path))
    const inside = files.filter(({ path }) => isInside(path))
    const lines = inside.map((file) => file.lines).sort((a, b) => a - b)
    return {
      name,
      rooms: new Set(inside.map(({ path }) => roomOf(path))).size,
      edges: graph.edges.filter(({ from, to }) => isInside(from) && isInside(to)).length,
      files: inside.length,
      median: percentile(lines, 0.5),
      p95: percentile(lines, 0.95),
      small: lines.filter((count) => count <= SMALL_FILE).length,
      oneImporter: inside.filter(({ path }) => single.has(path)).length,
    }
  })
}

/** Sizes of files, functions and importers of the sized areas; folders of all but `test`; long lines of everything. */
export function measureSizes(files: readonly ParsedFile[], graph: Graph): Sizes {
  const sized = files.filter(({ path }) => SIZED_AREAS.some((area) => area === areaOf(path)))
  const byLines = (a: { lines: number }, b: { lines: number }) => b.lines - a.lines
  const sizes = sized.map(({ path, lines }) => ({ file: path, lines })).sort(byLines)
  return {
    largeFiles: sizes.filter(({ lines }) => lines > LARGE_FILE),
    largeFunctions: sized
      .flatMap(({ path, functions }) => functions.map((size) => ({ file: path, ...size })))
      .filter(({ lines }) => lines > LARGE_FUNCTION)
      .sort(byLines),
    largeFolders: findLargeFolders(files),
    longLines: files.flatMap(({ path, longLines }) => longLines.map((line) => ({ file: path, ...line }))),
    smallFiles: sizes.filter(({ lines }) => lines <= SMALL_FILE),
    oneImporter: findSingleImporters(sized, graph),
  }
}

function findSingleImporters(files: readonly ParsedFile[], graph: Graph): { file: string; importer: string }[] {
  return files.flatMap(({ path }) => {
    const importers = [...(graph.importers.get(path) ?? [])].filter((importer) => areaOf(importer) !== 'test')
    const [importer] = importers
    return importer !== undefined && importers.length === 1 ? [{ file: path, importer }] : []
  })
}

function findLargeFolders(files: readonly ParsedFile[]): { folder: string; files: number }[] {
  const counts = new Map<string, number>()
  for (const { path } of files) {
    const folder = posix.dirname(path)
    if (areaOf(path) === 'test' || FOLDERS_WITHOUT_LIMIT.some((free) => `${folder}/`.startsWith(`${free}/`))) continue
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts]
    .map(([folder, count]) => ({ folder, files: count }))
    .filter(({ files: count }) => count > LARGE_FOLDER)
    .sort((a, b) => b.files - a.files)
}

/** Of sorted numbers, the value that at least the share of them does not exceed; 0 for none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}
